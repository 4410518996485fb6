# SPDX-License-Identifier: MIT
"""
What a program prints for a terminal, as SVG: text in the styles of ECMA-48's "select graphic rendition": bold, faint, and eight
colours.
"""
import re
from html import escape

COLUMN, LINE, SIZE = 8.4, 18, 14
BACKGROUND = "#1a1a1a"
COLOURS = {"30": "#1a1a1a", "31": "#e05252", "32": "#4fb04f", "33": "#d9a400",
           "34": "#5c8df0", "35": "#b86fc9", "36": "#35a8b5", "37": "#d0d0d0"}
PLAIN = ("#d0d0d0", "", "")


def style_of(parameters, style):
    """Return the style after a control sequence with these parameters."""
    colour, weight, opacity = style
    for p in parameters.split(";"):
        if p in ("", "0"):
            colour, weight, opacity = PLAIN
        elif p == "1":
            weight = ' font-weight="bold"'
        elif p == "2":
            opacity = ' opacity="0.6"'
        elif p in COLOURS:
            colour = COLOURS[p]
    return colour, weight, opacity


def spans_of(line):
    """Yield (column, text, style) of a line."""
    style, column = PLAIN, 0
    for i, part in enumerate(re.split("\033\\[([0-9;]*)m", line)):
        if i % 2:
            style = style_of(part, style)
            continue
        for text in re.finditer(r"\S+(?: \S+)*", part):
            yield column + text.start(), text.group(), style
        column += len(part)


def texts_of(line, y):
    """Return the elements for a line whose base is at y."""
    return "".join(
        f'<text x="{(column + 2) * COLUMN:.1f}" y="{y:.1f}" textLength="{len(text) * COLUMN:.1f}" '
        f'fill="{colour}"{weight}{opacity}>{escape(text)}</text>'
        for column, text, (colour, weight, opacity) in spans_of(line))
