"""The changes of an upgrade, by line."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """A change at a line of the original file, or what is left to do there."""

    line: int
    text: str
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class UpgradedFile:
    """The new text of a file, and the notes about it in the order of the lines.

    sessions: "functions" where all sessions became functions, "kept" where they are run by `compat.v1`, "" without any
    """

    text: str
    notes: list[Note] = field(default_factory=list)
    sessions: str = ""

    def report(self, filename: str) -> str:
        """Return the notes as lines `file:line: text`, and a line with their number."""
        prefixes = {True: "left: ", False: ""}
        lines = [f"{filename}:{note.line}: {prefixes[note.is_open]}{note.text}" for note in sorted(self.notes)]
        change_count = sum(not note.is_open for note in self.notes)
        open_count = len(self.notes) - change_count
        return "\n".join([*lines, f"{filename}: {change_count} changes, {open_count} left to do"])
