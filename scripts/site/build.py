#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
Builds the site from docs/, the manual pages and the sources.

usage: build.py FOLDER            makes FOLDER/src, what mkdocs reads, and FOLDER/html, from scratch
       build.py --pages FOLDER    FOLDER/src without the stepper's plans, for which mkdocs is not needed
"""

import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import documents  # noqa: E402
import manual  # noqa: E402
import plans  # noqa: E402
import reference  # noqa: E402
import yaml  # noqa: E402

SITE = "docs/site"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def manual_index():
    """Names of all manual pages, by section."""
    real, aliases = manual.sources()
    out = ["# Manual pages\n"]
    for section, title in manual.SECTIONS.items():
        out.append(f"## {section}: {title} {{#section-{section}}}\n")
        for name in sorted([*real, *aliases]):
            if name.endswith("." + section):
                about = manual.summary(real[name]) if name in real else f"see {aliases[name][:-2]}({aliases[name][-1]})"
                out.append(f"- [{name[:-2]}({section})]({name}.md): {about}")
        out.append("")
    return "\n".join(out)


def results():
    """The pictures of docs/results, which the site has as they are."""
    names = sorted(n for n in os.listdir("docs/results") if n.endswith(".svg"))
    out = ["# Results of the model\n\nThe papers' experiments, computed by `make results` with the plans that the module executes; "
           "[Choice of algorithms](concepts/choosing.md) says what they mean.\n"]
    for name in names:
        out.append(f"## {name[:-4]}\n\n![{name[:-4]}](pictures/{name})\n\n[The numbers](source/docs/results/{name[:-4]}.csv.txt)\n")
    return "\n".join(out)


def code(page):
    """A source in the page: <!-- code lib/examples/hello.c -->"""
    def source(match):
        with open(match[1], encoding="utf-8") as f:
            text = f.read()
        text = re.sub(r"\A(//|#!?) ?SPDX.*\n", "", text)
        language = {".c": "c", ".py": "python", ".sh": "bash"}.get(os.path.splitext(match[1])[1], "text")
        return f"~~~~{language}\n{text}~~~~\n"
    return re.sub(r"^<!-- code ([\w./-]+) -->\n", source, page, flags=re.M)


def terms(name, page):
    """A section of a manual page: <!-- man docs/torcoll.7 TERMS -->"""
    man = os.path.relpath("reference/man", os.path.dirname(name) or ".") + "/"

    def section(match):
        html = manual.rendered(match[1])
        body = re.search(r'<h1 class="Sh" id="%s">.*?</h1>\n(.*?)</section>' % match[2], html, re.S)
        if not body:
            raise documents.Wrong(f"{match[1]} has no section {match[2]}")
        return f'<div class="man">\n{manual.linked(body[1], manual.names()[1], man)}</div>\n'
    return re.sub(r"^<!-- man ([\w./-]+) (\w+) -->\n", section, page, flags=re.M)


def stage(src):
    """Everything that mkdocs reads."""
    pages = reference.pages()
    pages["reference/man/index.md"] = manual_index()
    pages["results.md"] = results()
    site = documents.Site(SITE, set(pages))
    for page in site.pages:
        pages[page] = terms(page, code(site.render(page)))
    for page, text in pages.items():
        write(os.path.join(src, page), text)
    site.files.update(f"docs/results/{n}" for n in os.listdir("docs/results"))
    for file in site.files:
        to = f"pictures/{os.path.basename(file)}" if file.endswith(documents.PICTURES) else f"source/{file}.txt"
        os.makedirs(os.path.dirname(os.path.join(src, to)), exist_ok=True)
        shutil.copyfile(file, os.path.join(src, to))
    for folder in "assets", "stepper":
        shutil.copytree(os.path.join(SITE, folder), os.path.join(src, folder))


# What versions of the theme leave without a name or out of reach of a keyboard, and empty heads of columns, which are none.
ACCESSIBLE = (
    (r'<div class="md-search"[^>]*>', 'aria-label="Search"'),
    (r'<div class="md-search__scrollwrap"[^>]*>', 'tabindex="0"'),
)


def with_attribute(tag, attribute):
    return tag if attribute.partition("=")[0] + "=" in tag else f"{tag[:-1]} {attribute}>"


def make_accessible(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for tag, attribute in ACCESSIBLE:
        text, n = re.subn(tag, lambda found, a=attribute: with_attribute(found[0], a), text)
        if 'data-md-component="search"' in text and not n:
            raise documents.Wrong(f"{path}: the theme has no {tag}")
    text = re.sub(r"<th( [^>]*)?>\s*</th>", "<td></td>", text)
    # blocks of code, which scroll
    write(path, re.sub(r"(<pre[^>]*>(?:<span></span>)?<code)", r'\1 tabindex="0"', text))


def finish(html):
    """The search's index as a script, too: see docs/site/assets/search.js. And nothing that only servers need."""
    with open(os.path.join(html, "search/search_index.json"), encoding="utf-8") as f:
        index = json.load(f)
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    write(os.path.join(html, "search/search_index.json"), text)
    write(os.path.join(html, "search/search_index.js"), f"var __search = {{index: Promise.resolve({text})}};\n")
    for name in "sitemap.xml", "sitemap.xml.gz":
        os.remove(os.path.join(html, name))
    for root, _, names in os.walk(html):
        for name in names:
            path = os.path.join(root, name)
            if name.endswith(".html"):
                make_accessible(path)
            elif name.endswith(".map"):
                os.remove(path)
            elif os.path.basename(os.path.dirname(root)) == "lunr" or os.path.basename(root) == "lunr":
                os.remove(path)


def main():
    only_pages = sys.argv[1:2] == ["--pages"]
    if len(sys.argv) != 2 + only_pages:
        sys.exit(__doc__)
    folder = os.path.abspath(sys.argv[-1])
    src, html = os.path.join(folder, "src"), os.path.join(folder, "html")
    for path in src, html:
        shutil.rmtree(path, ignore_errors=True)
    try:
        stage(src)
        if only_pages:
            return
        plans.write_all(os.path.join(src, "stepper/plans"))
    except (documents.Wrong, reference.Missing) as e:
        sys.exit(f"docs: {e}")
    with open(os.path.join(SITE, "mkdocs.yml"), encoding="utf-8") as f:
        config = yaml.safe_load(f)
    config.update(docs_dir=src, site_dir=html)
    config["theme"]["custom_dir"] = os.path.abspath(os.path.join(SITE, "theme"))
    write(os.path.join(folder, "mkdocs.yml"), yaml.safe_dump(config))
    if subprocess.run(["mkdocs", "build", "--quiet", "--strict", "-f", os.path.join(folder, "mkdocs.yml")]).returncode:
        sys.exit("docs: mkdocs has refused a page")
    try:
        finish(html)
    except documents.Wrong as e:
        sys.exit(f"docs: {e}")


if __name__ == "__main__":
    main()
