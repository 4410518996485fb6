#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
The commands in the documents: prints those of the programs named, one a line, as FILE:LINE, a tab, "block" or "text", a tab, and
the command as a shell takes it. A command that another one starts, such as torcollrun, is one, too.

usage: commands.py FILE... PROGRAM...

A command is a line of a block of code, behind a prompt or not, or a piece of text in backquotes that begins with a program's
name and has an argument; the latter may be the name of a command only.
"""
import re
import shlex
import sys

# What stands for something else, and something that it may stand for.
PLACEHOLDERS = {"DEV": "eth1", "FILE": "lab.conf", "NAME": "ring", "KEY": "1", "NODE": "1", "PROGRAM": "true", "SECONDS": "5", "N": "1",
                "prog": "true", "/etc/torcoll/lab.conf": "lab.conf", "...": ""}


def stripped(line):
    """Return a line of a block without prompt, and without what explains it."""
    line = re.sub(r"^[#$] ", "", line.strip())
    return re.sub(r"\s+(#|->) .*", "", line)


def candidates(path):
    """Yield (line number, where, text) of what may be a command."""
    fenced = False
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            if line.startswith("```"):
                fenced = not fenced
            elif fenced or line.startswith("    "):
                yield n, "block", stripped(line)
            else:
                for code in re.findall(r"`([^`]+)`", line):
                    if re.match(r"[a-z-]+ \S", code):
                        yield n, "text", code


def parts(text):
    """Return the simple commands of a line: between pipes, semicolons, and what runs when, each without redirections."""
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return
    command, skip = [], False
    for word in words + [";"]:
        if skip:
            skip = False
        elif word and not word.strip("><"):
            skip = True
        elif word and not word.strip("();|&"):
            if command:
                yield command
            command = []
        else:
            command.append(word)


def main():
    files = [a for a in sys.argv[1:] if a.endswith(".md")]
    programs = set(sys.argv[1:]) - set(files)
    for path in files:
        for n, where, text in candidates(path):
            for words in parts(re.sub(r"\$\([^()]*\)", "x", text)):
                words = [w for w in (PLACEHOLDERS.get(w, w) for w in words) if w]
                for i, word in enumerate(words):
                    if word in programs and (i == 0 or words[0] in programs or "=" in words[0]):
                        print(f"{path}:{n}\t{where}\t{shlex.join(words[i:])}")


main()
