# SPDX-License-Identifier: MIT
"""The reference of the site, from the sources: whatever is declared there has an entry here."""

import re

import headers
import manual
import yaml

LIBRARY = "lib/torcoll.h"
UAPI = "uapi/linux/torcoll.h"


class Missing(Exception):
    """An entry without what is to be said of it."""


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip() or " "


def code(text):
    return f"`{cell(text)}`"


def prose(text):
    """A comment of a header as Markdown: names and constants as code, what is indented as it is."""
    out = []
    for paragraph in re.split(r"\n\n+", text):
        if paragraph.startswith("\t"):
            out.append(re.sub(r"^\t?", "    ", paragraph.expandtabs(8), flags=re.M))
            continue
        paragraph = paragraph.replace("<", "&lt;").replace("*", "\\*")
        paragraph = re.sub(r"@(\w+)", r"`\1`", paragraph)
        paragraph = re.sub(r"(?<![`\w])(TORCOLL_\w+|torcoll_\w+(?:\(\))?|-?E[A-Z]{3,}\d?\b)(?!`)", r"`\1`", paragraph)
        out.append(paragraph)
    return "\n\n".join(out)


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    out += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(out) + "\n"


def functions():
    pages, aliases = manual.sources()
    text = ["# Functions\n\nOf libtorcoll, by `lib/torcoll.h`; each has a manual page. The "
            "[structs](structs.md) and [types](types.md) that they take have pages of their own.\n"]
    group = None
    rows = []
    for f in [*headers.functions(LIBRARY), None]:
        if f is None or f.group != group:
            if rows:
                text.append(f"## {group}\n\n" + table(["function", ""], rows))
            rows = []
            if f is None:
                break
            group = f.group
        page = f"{f.name}.3"
        page = aliases.get(page, page)
        if page not in pages:
            raise Missing(f"{f.name} has no manual page")
        rows.append([f"[`{f.name}`](man/{page}.md)", cell(prose(headers.sentence(f.comment)))])
    return "\n".join(text)


def enum_rows(enum, named, more=None):
    for v in enum.values:
        name = v.declaration.split(" ")[0]
        if name.endswith("_COUNT"):
            continue
        row = [code(name)]
        if named is not None:
            row.append(code(named[name]) if name in named else " ")
        if more is not None:
            row.append(more.get(name, " "))
        yield row + [cell(prose(v.comment))]


def types():
    enums = {e.name: e for e in headers.enums(UAPI)}
    byte = {name: str(size) for name, size in headers.sizes().items()}
    text = ["# Types, operators, algorithms\n\nValues of the enumerations of `uapi/linux/torcoll.h`. *Name* is what tools and "
            "`torcoll_type_by_name()` and its like take.\n"]
    for enum, title, array, more in (
            ("torcoll_kind", "Kinds of dimensions", None, None),
            ("torcoll_type", "Types", "tor_type_names", byte),
            ("torcoll_redop", "Operators", "tor_redop_names", None),
            ("torcoll_collective", "Collectives", "tor_collective_names", None),
            ("torcoll_bits", "Bits", None, None),
            ("torcoll_algorithm", "Algorithms", "tor_algorithm_names", None),
            ("torcoll_param", "Parameters of an algorithm", None, None)):
        e = enums.pop(enum)
        head = ["value"] + (["name"] if array else []) + (["bytes"] if more else []) + [""]
        text.append(f"## {title}\n")
        if e.comment:
            text.append(prose(e.comment) + "\n")
        text.append(table(head, enum_rows(e, headers.names(array) if array else None, more)))
    if enums:
        raise Missing(f"no table of enum {', '.join(enums)}")
    text.append("The [algorithms](../internals/algorithms.md), their [bits](../concepts/bits.md), and how one is "
                "[chosen](../concepts/choosing.md) have pages; the [stepper](../stepper.md) shows them at work.\n")
    return "\n".join(text)


def structs():
    text = ["# Structs and ioctls\n\nThose of `torcoll.h`, which programs fill in, and those of `linux/torcoll.h`, which the "
            "library passes to the module.\n"]
    for title, path in (("Of the library", LIBRARY), ("Of the module", UAPI)):
        text.append(f"## {title}\n")
        for s in headers.structs(path):
            text.append(f"### struct {s.name} {{#{s.name}}}\n")
            if s.comment:
                text.append(prose(s.comment) + "\n")
            text.append(table(["member", ""], ([code(m.declaration), cell(prose(m.comment))] for m in s.members)))
    text.append("## Constants\n")
    for path in LIBRARY, UAPI:
        text.append(table(["constant", "value", ""], (
            [code(d.name), code(d.value), cell(prose(d.comment))] for d in headers.defines(path, "TORCOLL_")
            if not d.name.startswith("TORCOLL_IOC_"))))
    text.append("## Ioctls\n")
    text.append(table(["ioctl", "number", "argument"], (
        [code(d.name), code(d.value), f"[`{d.comment}`](#{d.comment.split()[-1]})"]
        for d in headers.defines(UAPI, "TORCOLL_IOC_") if d.comment)))
    return "\n".join(text)


def errors():
    calls, ops = headers.errors(UAPI)
    return ("# Errors\n\nEvery error number has one meaning, by the head of `uapi/linux/torcoll.h`; `torcoll_last_error()`, and every "
            "tool, give a sentence that says more. What to do about messages that programs print is in "
            "[Troubleshooting](../guide/troubleshooting.md), what failures lead to them in [Failures](../concepts/failures.md).\n\n"
            "## Of calls\n\n" + table(["errno", "meaning"], ([code(a), cell(prose(b))] for a, b in calls)) +
            "\n## Of operations\n\nThe status of an operation can be these as well:\n\n" +
            table(["errno", "meaning"], ([code(a), cell(prose(b))] for a, b in ops)))


def described(heading):
    """Rows of the table below a heading of docs/observing.md, by their first column."""
    text = headers.read("docs/observing.md")
    part = re.search(r"^## %s\n(.*?)^## " % heading, text, re.M | re.S)[1]
    return dict(re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", part, re.M))


def rows_of(found, heading):
    said = described(heading)
    for name in found:
        if name not in said:
            raise Missing(f"docs/observing.md, {heading}: no {name}")
        yield name, said[name]


def counters():
    found = re.findall(r'\[TOR_C_\w+\] = "([a-z_]+)"', headers.read("kmod/core/counter.c"))
    return ("# Counters\n\nOf each node, by `kmod/core/counter.c`, as `torcollctl -a stats` prints them and, as "
            "`torcoll_NAME_total`, Prometheus has them. Those of each cable are in "
            "[Monitor](../guide/monitor.md#cables).\n\n" +
            table(["counter", "counts"], ([code(n), t] for n, t in rows_of(found, "Counters"))))


def tracepoints():
    found = re.findall(r"^(?:TRACE_EVENT\(|DEFINE_EVENT\(\w+, )(\w+),", headers.read("kmod/trace.h"), re.M)
    return ("# Tracepoints\n\nBy `kmod/trace.h`, below `/sys/kernel/tracing/events/torcoll`; "
            "[Monitor](../guide/monitor.md#tracepoints) has examples.\n\n" +
            table(["tracepoint", "when", "fields"], ([code(n), t] for n, t in rows_of(found, "Tracepoints"))))


def netlink_attributes(spec):
    for s in spec["attribute-sets"]:
        yield f"### {s['name']} {{#set-{s['name']}}}\n\n{s.get('doc', '').strip()}\n"
        yield table(["attribute", "type", ""], (
            [code(a["name"]), code(a["type"] + (f" of {a['sub-type']}" if "sub-type" in a else "")),
             cell(prose(a.get("doc", "")) + (f" One of [{a['enum']}](#enum-{a['enum']})." if "enum" in a else ""))]
            for a in s["attributes"] if a["type"] != "pad"))


def netlink_operation(op):
    yield f"### {op['name']} {{#op-{op['name']}}}\n"
    yield cell(prose(op.get("doc", ""))) + "\n"
    if "admin-perm" in " ".join(op.get("flags", [])):
        yield "Needs CAP_NET_ADMIN in the network namespace.\n"
    rows = []
    for way in "do", "dump", "event":
        if way not in op:
            continue
        parts = {"": op[way]} if way == "event" else {"request": op[way].get("request"), "reply": op[way].get("reply")}
        for part, has in parts.items():
            if has and has.get("attributes"):
                rows.append([f"{way} {part}".strip(), " ".join(code(a) for a in has["attributes"])])
    if rows:
        yield table(["", f"attributes, of [{op['attribute-set']}](#set-{op['attribute-set']})"], rows)


def netlink():
    with open("uapi/torcoll.yaml", encoding="utf-8") as f:
        spec = yaml.safe_load(f)
    text = [f"# Netlink\n\nThe generic netlink family `{spec['name']}`, by `uapi/torcoll.yaml`. {spec['doc'].strip()} `torcollctl` "
            "is made of these.\n\n## Operations\n"]
    for op in spec["operations"]["list"]:
        text += netlink_operation(op)
    text.append("## Multicast groups\n")
    text += (f"- {code(g['name'])}" for g in spec["mcast-groups"]["list"])
    text.append("\n## Attributes\n")
    text += netlink_attributes(spec)
    text.append("## Enumerations\n")
    for d in spec["definitions"]:
        if d["type"] == "enum":
            text.append(f"### {d['name']} {{#enum-{d['name']}}}\n\n{d.get('doc', '').strip()}\n")
            entries = (e if isinstance(e, dict) else {"name": e} for e in d["entries"])
            text.append(table(["value", ""], ([code(e["name"]), cell(prose(e.get("doc", "")))] for e in entries)))
    return "\n".join(text)


def commands():
    pages, _ = manual.sources()
    text = ["# Commands\n\n## Programs\n\n" + table(["page", ""], (
        [f"[{n[:-2]}({n[-1]})](man/{n}.md)", manual.summary(p)]
        for n, p in sorted(pages.items()) if n[-1] != "3"))]
    text.append("## Commands of torcollctl\n")
    section = None
    for s, command, anchor in manual.commands(pages["torcollctl.8"]):
        if s != section:
            text.append(f"\n### {s}\n")
            section = s
        text.append(f"- [{code(command)}](man/torcollctl.8.md#{anchor})")
    return "\n".join(text) + "\n"


def pages():
    out = manual.pages()
    for name, make in {"functions": functions, "types": types, "structs": structs, "errors": errors, "counters": counters,
                       "tracepoints": tracepoints, "netlink": netlink, "commands": commands}.items():
        out[f"reference/{name}.md"] = make()
    return out
