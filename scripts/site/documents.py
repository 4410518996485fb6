# SPDX-License-Identifier: MIT
"""
The documents of the tree as pages of the site.

A page is a file below docs/site/, or a whole document (WHOLE). In a page, a line

    <!-- include docs/guide.md#apply-it -->

stands for that section with its subsections, less those that another page includes; without #, for the whole document. A
document's headings have the same anchors as on the forge. Every link is resolved from where it was written: to the page that
has the section now, to a picture, or to a source, which the site has as text.
"""

import glob
import os
import posixpath
import re

WHOLE = {
    "internals/design.md": "docs/design.md",
    "internals/wire.md": "docs/wire.md",
    "internals/algorithms.md": "docs/algorithms.md",
    "internals/performance.md": "docs/performance.md",
    "internals/development.md": "docs/development.md",
    "internals/contributing.md": "docs/contributing.md",
    "internals/abi.md": "docs/abi.md",
    "internals/defects.md": "docs/defects.md",
    "internals/module.md": "kmod/README.md",
    "internals/core.md": "kmod/core/README.md",
    "changes.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
}
# What they are not on, but is linked to: the site has other pages for it.
INSTEAD = {"README.md": "index.md", "docs/README.md": "index.md"}

INCLUDE = re.compile(r"^<!-- include ([\w./-]+?)(?:#([\w-]+))? -->\n", re.M)
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^()\s]+)\)", re.S)
HEADING = re.compile(r"^(#+) (.*)$")
PICTURES = (".svg", ".png", ".gif")


class Wrong(Exception):
    """What is wrong with the documents, for people."""


def slug(heading):
    """The anchor of a heading, as forges make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower().replace(" ", "-")
    return re.sub(r"[^\w-]", "", text)


def lines_of(path):
    """Lines of a document, each with whether it is in a block of code."""
    fenced = False
    with open(path, encoding="utf-8") as f:
        for line in f.read().split("\n"):
            fence = line.startswith("```")
            yield line, fenced or fence or line.startswith(("    ", "\t"))
            fenced ^= fence


class Document:
    """A document of the tree, divided at its headings."""

    def __init__(self, path):
        self.path = path
        # level, anchor, lines
        self.sections = [[0, "", []]]
        seen = {}
        for line, code in lines_of(path):
            heading = None if code else HEADING.match(line)
            if heading:
                anchor = slug(heading[2])
                seen[anchor] = seen.get(anchor, -1) + 1
                if seen[anchor]:
                    anchor += f"-{seen[anchor]}"
                self.sections.append([len(heading[1]), anchor, []])
            self.sections[-1][2].append((line, code))

    def number(self, anchor):
        for i, (_, a, _) in enumerate(self.sections):
            if a == anchor:
                return i
        raise Wrong(f"{self.path} has no heading #{anchor}")

    def below(self, i):
        """The sections of section i, itself first."""
        end = i + 1
        while end < len(self.sections) and self.sections[end][0] > self.sections[i][0]:
            end += 1
        return range(i, end)


class Site:
    """All pages, and where what is linked to has gone."""

    def __init__(self, folder, generated):
        self.folder = folder
        self.documents = {}
        self.pages = {}         # page: its text, with lines "include"
        self.files = set()      # of the tree, that the site has as they are
        self.place = {}         # (document, section): page
        self.within = {}        # (document, section): the included section that it comes with
        self.generated = generated
        for root, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".md"):
                    path = os.path.join(root, name)
                    with open(path, encoding="utf-8") as f:
                        self.pages[os.path.relpath(path, folder)] = f.read()
        for page, path in WHOLE.items():
            self.pages[page] = f"<!-- include {path} -->\n"
        for page, text in self.pages.items():
            for path, anchor in INCLUDE.findall(text):
                self.claim(page, path, anchor)
        for page, text in self.pages.items():
            for path, anchor in INCLUDE.findall(text):
                self.spread(page, path, anchor)
        self.all_on_pages()

    def all_on_pages(self):
        """A document of docs/ on no page would be a source to the links that lead to it."""
        for path in sorted(glob.glob("docs/*.md")):
            if path not in self.documents and path not in INSTEAD:
                raise Wrong(f"{path} is on no page")

    def document(self, path):
        if path not in self.documents:
            if not os.path.exists(path):
                raise Wrong(f"there is no {path} to include")
            self.documents[path] = Document(path)
        return self.documents[path]

    def claim(self, page, path, anchor):
        section = self.document(path).number(anchor) if anchor else 0
        if (path, section) in self.place:
            raise Wrong(f"{path}#{anchor} is on {page} and on {self.place[path, section]}")
        self.place[path, section] = page
        self.within[path, section] = section

    def spread(self, page, path, anchor):
        """What is below an included section comes with it, unless it is included elsewhere."""
        document = self.document(path)
        own = document.number(anchor) if anchor else 0
        claimed = None
        for i in document.below(own) if own else range(len(document.sections)):
            level = document.sections[i][0]
            if claimed is not None and level > claimed:
                continue
            claimed = None
            if i != own and self.within.get((path, i)) == i:
                claimed = level
                continue
            self.place[path, i] = page
            self.within[path, i] = own

    def include(self, page, path, anchor, first):
        document = self.document(path)
        own = document.number(anchor) if anchor else 0
        # below the page's own heading, unless there is none
        shift = (1 if first else 2) - (document.sections[own][0] or 1)
        for i in document.below(own) if own else range(len(document.sections)):
            level, name, lines = document.sections[i]
            if self.within.get((path, i)) != own:
                continue
            for n, (line, code) in enumerate(lines):
                if n == 0 and level:
                    title = HEADING.match(line)[2]
                    title = re.sub(r"^\d+\. ", "", title)
                    line = "#" * (level + shift) + f" {title} {{#{name}}}"
                yield line, code

    def target(self, page, path, link):
        """Where a link on a page, written in path, leads to on the site."""
        file, _, anchor = link.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
        to = None
        if file.startswith(self.folder + "/"):
            to = file[len(self.folder) + 1:]
            if to not in self.pages and to not in self.generated and not os.path.exists(file):
                raise Wrong(f"{path}: {link} leads nowhere")
        elif file in INSTEAD and not anchor:
            to = INSTEAD[file]
        elif file.endswith(".md") and file in self.documents:
            section = self.document(file).number(anchor) if anchor else 0
            to = self.place.get((file, section))
            if to is None and not anchor:
                to = self.first_page(file)
        elif os.path.isdir(file):
            to = self.target_of_folder(path, link, file)
        elif os.path.isfile(file):
            to = "pictures/" + os.path.basename(file) if file.endswith(PICTURES) else f"source/{file}.txt"
            self.files.add(file)
            anchor = ""
        if to is None:
            raise Wrong(f"{path}: {link} is not on the site")
        return posixpath.relpath(to, posixpath.dirname(page) or ".") + (f"#{anchor}" if anchor else "")

    def title(self, path, link):
        """What a link to a document is called on the site, where it has no file: by its heading."""
        file, _, anchor = link.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        if file not in self.documents:
            return posixpath.basename(file)[:-3]
        document = self.document(file)
        sections = document.sections[document.number(anchor) if anchor else 1:]
        return re.sub(r"^\d+\. ", "", HEADING.match(sections[0][2][0][0])[2])

    def first_page(self, file):
        """Of a document that is divided: the page with its first section."""
        pages = [self.place[key] for key in sorted(k for k in self.place if k[0] == file)]
        return pages[0] if pages else None

    def target_of_folder(self, path, link, folder):
        readme = posixpath.join(folder, "README.md")
        if readme in self.documents:
            return self.place[readme, 0]
        if folder == "docs/results":
            self.files.update(os.path.join(folder, f) for f in os.listdir(folder))
            return "results.md"
        raise Wrong(f"{path}: the folder {link} is not on the site")

    def resolve(self, page, path, text):
        """Text of a paragraph, with its links led to the site, and manual pages made links."""
        def led(match):
            if "://" in match[2] or match[2].startswith("mailto:"):
                return match[0]
            label = match[1]
            if re.fullmatch(r"\[[\w./-]+\.md\]", label):
                label = f"[{self.title(path, match[2])}]"
            return f"{label}({self.target(page, path, match[2])})"

        def man(match):
            name = f"reference/man/{match[1]}.{match[2]}.md"
            if name not in self.generated:
                return match[0]
            return f"[{match[0]}]({posixpath.relpath(name, posixpath.dirname(page) or '.')})"

        # what stands in backquotes, and texts of links, stay as they are
        parts = re.split(r"(`+[^`]*`+)", LINK.sub(led, text))
        for i in range(0, len(parts), 2):
            pieces = re.split(r"(\[[^\]]*\]\([^)]*\))", parts[i])
            pieces[::2] = [re.sub(r"\b(torcoll[\w.-]*)\(([1-8])\)", man, p) for p in pieces[::2]]
            parts[i] = "".join(pieces)
        return "".join(parts)

    def render(self, page):
        """The Markdown of a page, for mkdocs."""
        out = []
        text = self.pages[page]
        own = os.path.join(self.folder, page)
        end = 0
        for match in INCLUDE.finditer(text):
            out.append(self.resolve(page, own, text[end:match.start()]))
            lines = self.include(page, match[1], match[2], not text[:match.start()].strip())
            out.append(self.paragraphs(page, match[1], lines))
            end = match.end()
        out.append(self.resolve(page, own, text[end:]))
        return "".join(out)

    def paragraphs(self, page, path, lines):
        out, kept = [], []

        def flush():
            if kept:
                out.append(self.resolve(page, path, "\n".join(kept)))
                kept.clear()

        for line, code in lines:
            if code:
                flush()
                out.append(line)
            else:
                kept.append(line)
        flush()
        return "\n".join(out) + "\n"
