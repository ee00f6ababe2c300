"""What stands over columns, and their helps: told when they are drawn, known by their English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fusescope.analysis.messages import Message, Said, language, paragraph
from fusescope.analysis.report.text import with_unit
from fusescope.analysis.wording.counted import Runs, per_of
from fusescope.analysis.wording.texts import PER_RUN

SIDES = ("baseline", "candidate")
SIDE_NAMES: Mapping[str, Message] = {
    "baseline": Message("baseline"),
    "candidate": Message("candidate"),
}
ALL_RUNS = Runs(True, True)
_OF_RUN = Message("{side} ({per})")
_OF_FILE = Message("{side} (whole file)")
_ONE_FILE: Mapping[str, Message] = {
    "baseline": Message("The baseline's value is of its whole file, which does not mark its runs."),
    "candidate": Message(
        "The candidate's value is of its whole file, which does not mark its runs."
    ),
}


@dataclass(frozen=True)
class Counted:
    """A text about times or counts of a run: `file` where they are of whole files. `either` is a
    head over two sides that differ, each of which says what it is of."""

    run: Message
    file: Message
    either: Message | None = None


@dataclass(frozen=True)
class Capital:
    """A name that stands alone over a column: with a capital letter, where the script has them."""

    name: Message | Said


Words = str | Message | Said | Counted | Capital


@dataclass(frozen=True)
class Head:
    """The head of a column: `unit` stands behind the label, as the cells have none."""

    label: Words
    unit: str = ""

    @property
    def key(self) -> str:
        """The English head, by which the column is known."""
        with language.speaking(language.ENGLISH):
            return self.text()

    def text(self, runs: Runs = ALL_RUNS) -> str:
        """The head in the language that is spoken."""
        label = _head_text(self.label, runs)
        if not self.unit:
            return label
        if self.unit.startswith("("):  # kernel_details writes Duration(us)
            return label + self.unit
        return with_unit(label, self.unit)


NO_HEAD = Head("")
SIDE_HEADS = {side: Head(name) for side, name in SIDE_NAMES.items()}


def told(words: str | Message | Said) -> str:
    """A text of the catalogue in the language that is spoken."""
    return words.text() if isinstance(words, Message) else str(words)


def _head_text(words: Words, runs: Runs) -> str:
    if isinstance(words, Counted):
        if runs.baseline == runs.candidate:
            return (words.run if runs.baseline else words.file).text(**per_of(runs))
        return (words.either or words.run).text(**PER_RUN)
    if isinstance(words, Capital):
        name = str(words.name)
        return name[:1].upper() + name[1:]
    return words.text(**per_of(runs)) if isinstance(words, Message) else str(words)


def side_text(side: str, runs: Runs) -> str:
    """The head of a side's column below one of times: where the sides differ, of what they are."""
    name = SIDE_NAMES[side]
    if runs.baseline == runs.candidate:
        return name.text()
    return (_OF_RUN if getattr(runs, side) else _OF_FILE).text(side=name, **PER_RUN)


def help_text(words: Words, runs: Runs) -> str:
    """A help in the language that is spoken; where one side is of a whole file, it says so."""
    if not isinstance(words, Counted):
        return _head_text(words, runs)
    if runs.baseline == runs.candidate:
        return (words.run if runs.baseline else words.file).text(**per_of(runs))
    side = next(side for side in SIDES if not getattr(runs, side))
    return paragraph(words.run.text(**PER_RUN), _ONE_FILE[side].text())
