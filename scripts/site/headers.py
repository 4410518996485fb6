# SPDX-License-Identifier: MIT
"""What torcoll.h and the uapi headers declare, with their comments: functions, structs, enums, ioctls, errors."""

import re
from typing import NamedTuple


class Function(NamedTuple):
    name: str
    declaration: str
    comment: str    # of this and of the functions that follow it without an empty line
    group: str      # the heading of torcoll.h above it


class Member(NamedTuple):
    declaration: str
    comment: str


class Struct(NamedTuple):
    name: str
    comment: str
    members: list[Member]


class Enum(NamedTuple):
    name: str
    comment: str    # with those in it that stand above several values
    values: list[Member]


class Define(NamedTuple):
    name: str
    value: str
    comment: str


COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
GROUP = re.compile(r"^ ---- (.*?) -+ $")
FUNCTION = re.compile(r"^[a-z][\w \t]*[ *](torcoll_\w+)\(([^;]*)\);", re.M)


def text_of(comment):
    """A comment without its frame; paragraphs and what is indented stay."""
    lines = [re.sub(r"^[ \t]*\* ?", "", line).rstrip() for line in comment.strip("\n").split("\n")]
    return "\n".join(lines).strip("\n").strip(" ")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def blocks(text):
    """Pairs of a comment and the code below it, up to an empty line or another comment at the beginning of a line."""
    comment = ""
    for block in re.split(r"\n(?=/\*)|\n\n+(?!\s)", text):
        match = re.match(r"/\*(.*?)\*/\n?", block, re.S)
        if match:
            comment = match[1]
            block = block[match.end():]
            if not block.strip():
                yield comment, ""
                continue
        yield comment, block
        comment = ""


def functions(path):
    group = ""
    kept = ""
    for comment, code in blocks(read(path)):
        match = GROUP.match(comment)
        if match:
            group = match[1]
            continue
        found = list(FUNCTION.finditer(code))
        if not found and not re.search(r"^[^#\n]", code, re.M):
            kept = comment or kept
        for match in found:
            yield Function(match[1], re.sub(r"\s+", " ", match[0]), text_of(comment or kept), group)
        if found:
            kept = ""


def members(body, end, notes=None):
    """Members or values: what is declared, and the comment behind it or, in lines of its own, above it; notes gets those of
    the latter that stand above what has its own."""
    above = ""
    for match in re.finditer(r"^\t([^\t\n/][^\n]*?%s)[ \t]*(?:/\*(.*?)\*/)?[ \t]*$|^\t/\*(.*?)\*/" % end,
                             body, re.M | re.S):
        declared, behind, alone = match.groups()
        if declared is None:
            above = text_of(alone)
            continue
        declared = declared.split("/*")[0].rstrip(" \t,")
        if behind and above and notes is not None:
            notes.append(above)
        yield Member(re.sub(r"\s+", " ", declared), re.sub(r"\s+", " ", (behind or above)).strip())
        above = ""


def structs(path):
    for comment, code in blocks(read(path)):
        match = re.search(r"^struct (torcoll_\w+) \{\n(.*?)^\};", code, re.M | re.S)
        if match:
            yield Struct(match[1], text_of(comment), list(members(match[2], ";")))


def enums(path):
    for comment, code in blocks(read(path)):
        match = re.search(r"^enum (torcoll_\w+) \{\n(.*?)^\};", code, re.M | re.S)
        if match:
            notes = [text_of(comment)]
            values = list(members(match[2], r"(?:,|(?<=COUNT)|= 8)", notes))
            yield Enum(match[1], "\n\n".join(n for n in notes if n), values)


def defines(path, prefix):
    for match in re.finditer(r"^#define (%s\w*)[ \t]+(.*?)[ \t]*(?:/\*(.*?)\*/)?$" % prefix, read(path), re.M):
        yield Define(match[1], match[2], (match[3] or "").strip())


def paragraphs(path):
    """What comments say of a constant in a paragraph that begins with its name and a colon."""
    found = {}
    for comment in COMMENT.findall(read(path)):
        for paragraph in text_of(comment).split("\n\n"):
            match = re.match(r"(TORCOLL_\w+):\s+(.*)", paragraph, re.S)
            if match:
                found[match[1]] = match[2]
    return found


def errors(path):
    """Name and meaning of every errno that the head of linux/torcoll.h lists; of calls, then of ops."""
    head = text_of(COMMENT.search(read(path), read(path).index("*/"))[1])
    calls, ops = head.split("The status of an op", 1)
    for part in calls, ops:
        found = []
        for line in part.split("\n"):
            match = re.match(r"\t([A-Z0-9, ]+)\t+(.*)", line)
            if match:
                found.append([match[1], match[2]])
            elif line.startswith("\t\t") and found:
                found[-1][1] += " " + line.strip()
            elif found and not line.strip() and part is ops:
                break
        yield [tuple(x) for x in found]


def names(array):
    """Names of values, as programs and tools print them."""
    body = re.search(r"%s\[.*?\{(.*?)\};" % array, read("kmod/core/names.c"), re.S)[1]
    return dict(re.findall(r'\[(TORCOLL_\w+)\] = "([^"]*)"', body))


def sizes():
    """Bytes of an element of each type, on the architectures that there are; pairs are aligned to the longer of both."""
    byte = {"short": 2, "int": 4, "long": 8, "float": 4, "double": 8}
    out = {}
    entry = r"\[(TORCOLL_\w+)\] = (?:(\d+)|sizeof\(struct \{ (\w+) v; int i; \}\)),"
    for name, size, value in re.findall(entry, read("lib/names.c")):
        out[name] = int(size) if size else 2 * max(byte[value], byte["int"])
    return out


def sentence(text):
    """The first one of a comment, without its stop, for tables."""
    text = re.sub(r"\s+", " ", text.split("\n\n")[0])
    match = re.match(r"(.*?[^.e]\.)(?: [A-Z@]|$)", text)
    return (match[1] if match else text).rstrip(".:")
