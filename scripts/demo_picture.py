#!/usr/bin/env python3
"""Draws the terminal of one run of `keepnet demo`, for README.md.

    scripts/demo_picture.py target/release/keepnet > docs/pictures/demo.svg

The program runs in a pseudo-terminal; the upper half is its screen when half the work is done, the
lower half its screen at the end.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from html import escape

COLUMNS, ADVANCE, LINE = 124, 6.6, 16
GREY, GREEN, WHITE, YELLOW = "#8b949e", "#7ee787", "#d7dce2", "#e3b341"


def capture(program):
    """Everything that the demonstration writes to a terminal of that width."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(program, [program, "demo"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    text = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        text += more
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        sys.exit(f"{program} demo failed")
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text.decode()).replace("\r\n", "\n")


def screens(text):
    """The line of progress nearest to the middle, and the lines that stay."""
    bars, lines = [], []
    for line in text.split("\n"):
        parts = [part for part in line.split("\r") if part.strip()]
        bars += [part for part in parts if re.match(r"\s*\d+% \[", part)]
        kept = parts[-1].rstrip() if parts else ""
        lines.append("" if re.match(r"\s*\d+% \[", kept) else kept)
    share = lambda bar: int(bar.split("%")[0])
    while lines and not lines[-1]:
        lines.pop()
    return min(bars, key=lambda bar: abs(share(bar) - 50)), lines


def box(top, title, lines):
    """A window with a title and coloured lines; returns it and its lower edge."""
    height = 37 + LINE * len(lines)
    width = round(28 + ADVANCE * COLUMNS)
    out = [
        f'<rect x="0.5" y="{top + 0.5}" width="{width - 1}" height="{height}" rx="6" '
        'fill="#16191d" stroke="#3a4048"/>',
        f'<text x="14" y="{top + 17}" fill="{GREY}">{title}</text>',
    ]
    for at, (colour, line) in enumerate(lines):
        if line:
            length = round(ADVANCE * len(line), 1)
            y = top + 37 + LINE * at
            words = escape(line, quote=False)
            out.append(f'<text x="14" y="{y}" fill="{colour}" textLength="{length}">{words}</text>')
    return out, top + height


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    bar, lines = screens(capture(sys.argv[1]))
    call = (GREEN, "$ keepnet demo")
    head, *rest = [line for line in lines]
    upper, bottom = box(0, "while it runs", [call, (WHITE, head), (YELLOW, bar.rstrip())])
    shown = [call, (WHITE, head), *((WHITE, line) for line in rest)]
    lower, bottom = box(bottom + 9, "when it is done", shown)
    width, height = round(28 + ADVANCE * COLUMNS), bottom + 1
    label = "The terminal of one run of keepnet demo, half way through and at its end."
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" xml:space="preserve" role="img" aria-label="{label}">\n'
        "<style>text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"
        '"DejaVu Sans Mono",monospace;white-space:pre}</style>'
    )
    print("\n".join([*upper, *lower, "</svg>"]))


if __name__ == "__main__":
    main()
