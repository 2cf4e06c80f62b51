"""Format two texts side by side, with each converted line beside the source line that it comes from."""

from __future__ import annotations

import io
import itertools
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PIPE_WIDTH = 160  # columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A piece of a file: its text, and the number of its first line in the file."""

    text: str
    first_line: int

    @property
    def line_count(self) -> int:
        return self.text.count("\n") + 1


def side_by_side(left: Sequence[Excerpt], right: Sequence[Excerpt], origins: Sequence[int]) -> str:
    """Return a table with the original on the left and the converted text on the right, both with line numbers.

    The width is that of the terminal (160 columns in a pipe). `origins[k]` is the line of the original for line k+1 of
    the converted text.
    """
    from rich import box  # slow to import, needed only for this option
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.table import Table

    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), width=width, show_edge=False)
    for title in ("original", "converted"):
        table.add_column("", justify="right", style="dim", no_wrap=True)
        table.add_column(title, overflow="fold", ratio=1)
    highlighter = Syntax("", "python", theme="ansi_dark", background_color="default")
    for original, converted in itertools.zip_longest(left, right):
        excerpts = [excerpt or Excerpt(text="", first_line=1) for excerpt in (original, converted)]
        texts = [highlighter.highlight(excerpt.text).split("\n", allow_blank=True) for excerpt in excerpts]
        for row in _align(excerpts[0], excerpts[1], origins):
            cells: list = []
            for number, excerpt, text in zip(row, excerpts, texts, strict=True):
                has_line = number is not None and number - excerpt.first_line < len(text)
                cells += (
                    [str(number), text[number - excerpt.first_line]] if number is not None and has_line else ["", ""]
                )
            table.add_row(*cells)
    stream = io.StringIO()
    Console(file=stream, width=width, force_terminal=is_terminal, no_color=not is_terminal).print(table)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _align(left: Excerpt, right: Excerpt, origins: Sequence[int]) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of line numbers, of the original and of the converted text; None where a side has no line.

    A source line stands beside the first converted line that comes from it. The lines between two such pairs are
    paired in order.
    """
    next_line, lines = left.first_line, right.text.split("\n")
    unpaired: list[int] = []
    for number in range(right.first_line, right.first_line + right.line_count):
        line = lines[number - right.first_line].strip()
        # The origin of a blank line or comment is that of the statement below.
        has_origin = line and not line.startswith("#") and number <= len(origins)
        origin = origins[number - 1] if has_origin else 0
        if next_line <= origin < left.first_line + left.line_count:
            yield from itertools.zip_longest(range(next_line, origin), unpaired)
            yield origin, number
            next_line, unpaired = origin + 1, []
        else:
            unpaired.append(number)
    yield from itertools.zip_longest(range(next_line, left.first_line + left.line_count), unpaired)
