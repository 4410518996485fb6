#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
The tests that docs/defects.md names are there, each case in the suite before it.

A suite is its file, and what that names: files and folders of selftests, and a shell script's in turn what it names. A case is a
function as it is called, or put together by a script of pieces, of which a number, and what is in brackets, may be a variable.
"""

import functools
import os
import re
import sys

DOCUMENT = "docs/defects.md"
SUITE = re.compile(r"(?:host|net|vms|long|debug|fault|docs)/[a-z0-9_-]+|\w+_test|make check-\w+")
CASE = re.compile(r"[^` ]*__[^` ]*")


def words(text):
    return set(re.findall(r"[A-Za-z0-9_-]{2,}", text))


@functools.cache
def text_of(path):
    """Without comments, which call nothing."""
    with open(path, encoding="utf-8", errors="ignore") as f:
        text = f.read()
    if path.endswith((".c", ".h")):
        return re.sub(r"(?s)/\*.*?\*/", "", text)
    return re.sub(r"(?m)^\s*#(?!\w).*", "", text)


@functools.cache
def all_files():
    return [os.path.join(folder, name) for folder, _, names in os.walk("selftests") for name in names]


def named_in(path):
    """What a file names: scripts and folders of selftests by their paths, programs of a script by their names, headers."""
    text = text_of(path)
    of = words(text)
    folders = tuple(f"selftests/{folder}/" for folder in re.findall(r"selftests/(\w+)\b(?!/\w)", text))
    headers = re.findall(r'#include "(?:\S*/)?(\w+\.h)"', text)
    for f in all_files():
        stem, kind = os.path.splitext(os.path.basename(f))
        if f in text or f.replace("selftests", "..", 1) in text or f.startswith(folders) or os.path.basename(f) in headers:
            yield f
        elif path.endswith(".sh") and kind in (".c", ".py") and stem in of and not f.startswith("selftests/unit/"):
            yield f


@functools.cache
def files_of(suite):
    made = suite.removeprefix("make check-")
    base = f"selftests/packaging/{made}" if made != suite else \
        f"selftests/{suite}" if "/" in suite else f"selftests/unit/{suite}"
    new = {f for f in all_files() if os.path.splitext(f)[0] == base}
    found = set()
    while new:
        found |= new
        new = {f for path in new for f in named_in(path)} - found - {"selftests/lib.sh"}
    return found


@functools.cache
def words_of(suite):
    found = files_of(suite)
    of = set().union(*(words(text_of(f)) for f in found))
    of.update(os.path.splitext(os.path.basename(f))[0] for f in found)
    return of | {piece for word in of for piece in word.split("__")}


def has_piece(of, piece):
    fixed = re.sub(r"^\d+|\d+$|\[.*", "", piece)
    if fixed != piece:
        return any(fixed in word for word in of)
    return piece in of or not piece or (piece.endswith("_") and any(word.startswith(piece) for word in of))


def has_case(suite, case):
    of = words_of(suite)
    # numbers may follow it; pytest has names of its own
    if case in of or f"test_{case}" in of or any(word.startswith(case + "_") for word in of):
        return True
    if case.startswith("tor_"):
        return any(word.startswith(case) for word in of)
    return all(has_piece(of, piece) for piece in case.split("__"))


def main():
    bad = n = 0
    with open(DOCUMENT, encoding="utf-8") as f:
        rows = [line for line in f if line.startswith("| ") and not line.startswith("| --")]
    for row in rows:
        suite = None
        for name in re.findall(r"`([^`]*)`", row.rsplit(" | ", 1)[1]):
            why = None
            if CASE.fullmatch(name):
                if not suite:
                    why = "no suite is before"
                elif not has_case(suite, name):
                    why = f"{suite} has no"
            elif SUITE.fullmatch(name):
                suite = name
                if not files_of(suite) and not suite.startswith("make "):
                    why = "selftests have no"
            else:
                continue
            n += 1
            if why:
                print(f"{DOCUMENT}: {why} {name}")
                bad += 1
    return bad or n <= 200


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
