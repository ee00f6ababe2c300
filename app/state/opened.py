"""Opened: a file that was opened, and what became of one that was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import Said, language
from fusescope.analysis.trace import Trace


@dataclass(frozen=True)
class Opened:
    """A file that was opened: `id` is what a link to it holds, without variant. `role` is the side
    of a report that it comes from: baseline or candidate, both for a file beside itself, else '';
    `assumed` is what the reader of that report had set, `places` where the file stands in a report
    of several, and with which variant."""

    id: str
    name: str
    value: Trace | Experiment
    role: str = ""
    assumed: Assumptions | None = None
    places: tuple[tuple[int, str | None], ...] = ()


@dataclass(frozen=True)
class InEach:
    """A text that was told in every language, by code, because what it tells of may go."""

    texts: Mapping[str, str]

    def __str__(self) -> str:
        return self.texts.get(language.current()) or self.texts[language.ENGLISH]


def in_each(tell: Callable[[], str]) -> InEach:
    """What `tell` says in every language."""
    texts = {}
    for code in language.languages():
        with language.speaking(code):
            texts[code] = tell()
    return InEach(texts)


Sentence = Said | FuseScopeError | InEach


@dataclass(frozen=True)
class Fate:
    """What became of one file that was given: a sentence, and whether it was read.

    `read` is None for a note on other files than those given; `id` is that of the opened file.
    `sentence` is told when it is shown, by `text`; `ends_early` of a file that was read as far as
    it goes. `report` is where a report of Nsight Systems lies, which `nsys` can export.
    """

    name: str
    read: bool | None
    sentence: Sentence
    id: str = ""
    ends_early: bool = False
    report: Path | None = None

    @property
    def text(self) -> str:
        """The sentence in the language that is spoken."""
        return str(self.sentence)


@dataclass(frozen=True)
class History:
    """A file of what releases of an engine made of a model, as it was dropped."""

    name: str
    data: bytes


@dataclass
class Inbox:
    """What was read and has not been opened yet; `gone` is the upload that a link waits for,
    `histories` files of releases among the files, `models` what the page Record calls models.

    A plain object: whoever clicks ends the run at its next access to the session, so what was read
    must be safe before that.
    """

    read: list[Opened] = field(default_factory=list)
    told: list[Fate] = field(default_factory=list)
    gone: str | None = None
    histories: list[History] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    def put(self, read: list[Opened], told: list[Fate], gone: str | None) -> None:
        """Keep what was read."""
        self.read, self.told, self.gone = read, told, gone
