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
    """The new text of a file, and the notes about it.

    `sessions` is "functions" if all sessions became functions, "kept" if `compat.v1` runs them, "" without sessions.
    """

    text: str
    notes: list[Note] = field(default_factory=list)
    sessions: str = ""

    def report(self, filename: str) -> str:
        """Return the notes as lines `file:line: text`, and a line that counts the changes and the open notes."""
        lines = [
            f"{filename}:{note.line}: {'left: ' if note.is_open else ''}{note.text}" for note in sorted(self.notes)
        ]
        change_count = sum(not note.is_open for note in self.notes)
        open_count = len(self.notes) - change_count
        return "\n".join([*lines, f"{filename}: {change_count} changes, {open_count} left to do"])
