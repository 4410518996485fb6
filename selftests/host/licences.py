#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The licence of every file: stated in its first lines, or in REUSE.toml, with a text in LICENSES/."""

import os
import re
import subprocess
import sys
import tomllib

LINE = re.compile(rb"SPDX-License-Identifier: ([A-Za-z0-9 .()+-]+)")


def files():
    """What belongs to the project: tracked or about to be; without git all but what is made."""
    if os.path.exists(".git"):
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"],
                             check=True, stdout=subprocess.PIPE).stdout
        return sorted(f for f in out.decode().split("\0") if f and os.path.isfile(f))
    found = []
    for folder, folders, names in os.walk("."):
        if folder == ".":
            folders[:] = [f for f in folders if f != "build"]
        found += [os.path.relpath(os.path.join(folder, n), ".") for n in names]
    return sorted(found)


def matcher(path):
    """A pattern of REUSE.toml: * stays in its folder, ** does not."""
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(p, re.escape(p)) for p in re.split(r"(\*\*|\*)", path)))


def main():
    bad = []
    used = set()
    with open("REUSE.toml", "rb") as f:
        tables = tomllib.load(f)["annotations"]
    rules = []
    for table in tables:
        paths = table["path"] if isinstance(table["path"], list) else [table["path"]]
        rules += [[p, matcher(p), table["SPDX-License-Identifier"], 0] for p in paths]

    for name in files():
        if name.startswith("LICENSES/"):
            continue
        with open(name, "rb") as f:
            head = b"\n".join(f.read(600).split(b"\n")[:4])
        stated = LINE.search(head)
        licence = stated.group(1).decode().strip() if stated else None
        for rule in rules:
            if not stated and rule[1].fullmatch(name):
                licence = rule[2]
                rule[3] += 1
        if licence is None:
            bad.append(f"{name}: no SPDX line, and not in REUSE.toml")
            continue
        used |= set(re.split(r"[ ()]+", licence)) - {"OR", "AND", "WITH", ""}

    bad += [f"REUSE.toml: {r[0]}: no file without an SPDX line" for r in rules if not r[3]]
    texts = {n[:-len(".txt")] for n in os.listdir("LICENSES")}
    bad += [f"LICENSES/{n}.txt is missing" for n in sorted(used - texts)]
    bad += [f"LICENSES/{n}.txt: no file is under it" for n in sorted(texts - used)]
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad) or not used


if __name__ == "__main__":
    sys.exit(main())
