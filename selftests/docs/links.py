#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""
Every link of a site's pages leads to a file that is there, and to an anchor that it has; nothing is loaded from elsewhere; pictures
have a description, and fields and buttons a name.

usage: links.py FOLDER
"""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

# Attributes by which a page loads what it needs, and those that only lead somewhere.
LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href"), ("source", "src"), ("object", "data")}
LEADS = {("a", "href"), ("area", "href")}
# Pages whose anchors a script reads, of which the page itself has none.
SCRIPTED = {"stepper/index.html"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.unnamed = set(), [], [], []
        self.labels, self.fields, self.inside = set(), [], []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())
        self.unnamed += [f"field {i or '?'}" for i, wrapped in self.fields if not wrapped and i not in self.labels]

    def handle_starttag(self, tag, attrs):
        has = dict(attrs)
        self.ids.update(v for k, v in attrs if k in ("id", "name") and v)
        for key, value in attrs:
            if (tag, key) in LEADS and value is not None:
                self.links.append(value)
            if (tag, key) in LOADS and value and has.get("rel") not in ("canonical", "alternate", "next", "prev"):
                self.loads.append(value)
        if tag == "html" and not has.get("lang"):
            self.unnamed.append("html without a language")
        if tag == "img" and "alt" not in has:
            self.unnamed.append(f"picture {has.get('src')}")
        if tag == "label":
            self.inside.append(tag)
            self.labels.add(has.get("for"))
        if tag in ("select", "textarea") or tag == "input" and has.get("type") not in ("hidden", "checkbox", "radio"):
            self.fields.append((has.get("id"), "aria-label" in has or bool(self.inside)))

    def handle_endtag(self, tag):
        if tag == "label" and self.inside:
            self.inside.pop()


def main():
    top = sys.argv[1]
    pages = {}
    for root, _, names in os.walk(top):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(root, name)
                pages[os.path.relpath(path, top)] = Page(path)
    bad = checked = 0
    for name, page in sorted(pages.items()):
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    print(f"{name}: loads {link}")
                    bad += 1
                continue
            # the theme's page for what a server does not find has links from the root
            if name == "404.html":
                continue
            checked += 1
            to = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            if os.path.isdir(os.path.join(top, to)):
                to = os.path.join(to, "index.html")
            if not os.path.exists(os.path.join(top, to)):
                print(f"{name}: {link} leads nowhere")
                bad += 1
            elif parts.fragment and to in pages and to not in SCRIPTED and unquote(parts.fragment) not in pages[to].ids:
                print(f"{name}: {link}: no such place on {to}")
                bad += 1
        for what in page.unnamed:
            print(f"{name}: no name: {what}")
            bad += 1
    print(f"{checked} links on {len(pages)} pages")
    sys.exit(bool(bad) or not checked)


main()
