# SPDX-License-Identifier: MIT
"""Manual pages as pages of the site, by mandoc."""

import html
import os
import posixpath
import re
import subprocess

SECTIONS = {
    "1": "Programs", "3": "Functions of the library", "5": "Files", "7": "Overviews", "8": "Programs of administrators",
}


def sources(folders=("docs", "lib", "tools")):
    """The pages, by name such as torcoll_open.3; the second: those that only lead to another, with its name."""
    pages, aliases = {}, {}
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                if not re.fullmatch(r"[\w.-]+\.[1-8]", name):
                    continue
                path = os.path.join(root, name)
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                if text.startswith(".so "):
                    aliases[name] = posixpath.basename(text.split()[1])
                else:
                    pages[name] = path
    return pages, aliases


def place(name):
    return f"reference/man/{name}.md"


def summary(path):
    """What the page's NAME says it is about."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    name = re.search(r'^\.SH "?NAME"?\n(.*?)^\.SH', text, re.M | re.S)[1]
    return re.sub(r"\s+", " ", re.split(r"(?<!\S)\\-(?!\S)", name, maxsplit=1)[1]).replace("\\-", "-").strip()


def rendered(path):
    return subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path], check=True,
                          stdout=subprocess.PIPE).stdout.decode()


def linked(text, known, folder=""):
    """References to pages as links to where they are from the page: in the same folder, or in that one."""
    def link(match):
        name = f"{html.unescape(match[1])}.{match[2]}"
        if name not in known:
            return match[0]
        return f'<a href="{folder}{known[name]}.html">{match[0]}</a>'
    return re.sub(r"<b>([\w.-]+)</b>\(([1-8])\)", link, text)


def capital(title):
    """SEE ALSO as See also; what is a name in it stays."""
    words = " ".join(w if w == "IP" else w.lower() for w in title.split())
    return words[0].upper() + words[1:]


def page(name, path, known):
    """The page's Markdown: its sections have headings of the site, for the contents and the search."""
    text = re.sub(r"<table class=\"(?:head|foot)\">.*?</table>\n?", "", rendered(path), flags=re.S)
    # headings are the site's; the anchors of anything else stay
    text = re.sub(r'<section class="S[hs]">\n?|</section>\n?', "", text)
    text = re.sub(r'^<div class="manual-text">\n|</div>\n?\Z', "", text.strip() + "\n")
    parts = re.split(r'<h([12]) class="S[hs]"(?: id="[^"]*")?>(?:<a class="permalink" href="[^"]*">)?(.*?)(?:</a>)?</h\1>\n',
                     text, flags=re.S)
    title = name.rsplit(".", 1)
    out = [f"# {title[0]}({title[1]})\n\n{summary(path)}\n"]
    for level, heading, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        heading = html.unescape(re.sub(r"<[^>]*>|\s+", " ", heading)).strip()
        if heading == "NAME":
            heading = "Names"
        anchor = re.sub(r"\W+", "-", "section " + heading.lower()).strip("-")
        out.append(f"{'#' * (int(level) + 1)} {capital(heading) if level == '1' else heading} {{#{anchor}}}\n")
        if body.strip():
            out.append(f'<div class="man">\n{linked(body.strip(), known)}\n</div>\n')
    return "\n".join(out)


def commands(path):
    """The commands of torcollctl, by section of its page: what is typed, and its anchor."""
    text = rendered(path)
    depth = 0
    section = ""
    for match in re.finditer(r'<(/?)(?:dl|div)\b|<h1 class="Sh"[^>]*>(.*?)</h1>|<dt id="([^"]+)">(.*?)</dt>', text, re.S):
        close, heading, anchor, term = match.groups()
        if heading is not None:
            section = capital(html.unescape(re.sub(r"<[^>]*>", "", heading)))
        elif anchor is not None:
            # in the list of a section, in the text of the page
            if depth == 2 and section != "Options":
                yield section, re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", term))), anchor
        else:
            depth += -1 if close else 1


def names():
    """The page that has each name."""
    real, aliases = sources()
    known = {name: name for name in real}
    known.update({name: to for name, to in aliases.items() if to in real})
    return real, known


def pages():
    """All of them, as {place: text}."""
    real, known = names()
    out = {place(name): page(name, path, known) for name, path in real.items()}
    for name, to in known.items():
        if name != to:
            title = name.rsplit(".", 1)
            out[place(name)] = f"# {title[0]}({title[1]})\n\nis described in [{to[:-2]}({to[-1]})]({to}.md).\n"
    return out
