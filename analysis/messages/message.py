"""Message: a whole sentence with named placeholders, told in the language that is spoken."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Literal

from fusescope.analysis import units
from fusescope.analysis.messages import formats, language

Role = Literal["text", "name", "number"]


@dataclass(frozen=True)
class Part:
    """A piece of a sentence. A `name` comes from a trace; a `number` is what to emphasise."""

    text: str
    role: Role = "text"


@dataclass(frozen=True)
class Message:
    """English text of a sentence, and its form for many: `n` decides between the two.

    A placeholder is `{name}` or `{name:format}` (analysis/messages/formats.py has the formats);
    what stands between two `**` is emphasised. The text is also the key of its translations.
    """

    one: str
    many: str = ""

    def __str__(self) -> str:
        """The text of a message without placeholders."""
        return self.text()

    def text(self, **values: Shown) -> str:
        """The sentence as plain text; a KeyError names a placeholder without a value."""
        return "".join(part.text for part in self.parts(**values))

    def parts(self, **values: Shown) -> tuple[Part, ...]:
        """The sentence in pieces: who shows them must not interpret a `name`."""
        return tuple(_joined(_set(self._pieces(values))))

    def of(self, **values: Shown) -> Said:
        """The sentence with its values, to be told later, or inside another one."""
        return Said(self, values)

    def _pieces(self, values: Mapping[str, Shown]) -> Iterator[Part]:
        is_strong = False
        text = language.translated(self.one, self.many, values)
        apart = _durations_apart(text, values)
        for literal, name, form in _pieces(text):
            for place, piece in enumerate(literal.split("**")):
                is_strong ^= place > 0
                yield Part(piece, "number" if is_strong else "text")
            role: Role = "number" if is_strong else "text"
            if name is not None and form == "duration" and name in apart:
                yield Part(apart[name], role)
            elif name is not None:
                yield from _shown(values[name], form, role)


@dataclass(frozen=True)
class Said:
    """A message and its values: a sentence that is told when and where it is shown."""

    message: Message
    values: Mapping[str, Shown]

    def __str__(self) -> str:
        return self.message.text(**self.values)

    def parts(self) -> tuple[Part, ...]:
        """See `Message.parts`."""
        return self.message.parts(**self.values)


_NEXT = Message("{first} {second}")  # of two sentences

Shown = str | int | float | bool | None | Message | Said


def say(one: str, many: str = "", /, **values: Shown) -> str:
    """A text in the language that is spoken, for one that stands where it is shown.

    Never at import, where no language is chosen yet: there a `Message` stands.
    """
    return Message(one, many).text(**values)


def paragraph(*sentences: str) -> str:
    """Whole sentences one after the other, without the empty ones."""
    return _NEXT.text(first="", second="").join(filter(None, sentences))


def passage(*sentences: Sequence[Part]) -> tuple[Part, ...]:
    """Sentences in pieces, one after the other, without the empty ones."""
    between = Part(_NEXT.text(first="", second=""))
    pieces: list[Part] = []
    for sentence in filter(None, sentences):
        pieces += [between, *sentence] if pieces else sentence
    return tuple(_joined(iter(pieces)))


def listed(texts: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    if len(texts) < 2:
        return "".join(texts)
    start = texts[0]
    for text in texts[1:-1]:
        start = say("{start}, {next}", start=start, next=text)
    return say("{start} and {last}", start=start, last=texts[-1])


def _shown(value: Shown, form: str, role: Role) -> Iterator[Part]:
    if isinstance(value, Message):
        value = value.of()
    if isinstance(value, Said):
        for part in value.parts():
            yield part if part.role == "name" or role == "text" else Part(part.text, role)
    else:
        yield Part(formats.shown(value, form), "name" if form == "name" else role)


_RATIOS = frozenset({"change", "percent", "factor"})
_Durations = Sequence[tuple[str, float]]  # (placeholder, ns)


def _durations_apart(text: str, values: Mapping[str, Shown]) -> Mapping[str, str]:
    """Return how the durations of a sentence are written beside which their difference or ratio
    stands: so that they are as far apart as it says."""
    names, others = _timed(text)
    if len(names) < 2 or not others:
        return {}
    known = [(name, ns) for name in names if isinstance(ns := values[name], int | float)]
    if len(known) < 2:
        return {}
    found: dict[str, str] = {}
    for name, form in others:
        value = values[name]
        if isinstance(value, int | float):
            of = _of_ratio if form in _RATIOS else _of_change
            found |= of(known, value, form)
    return found


def _of_change(known: _Durations, change: float, form: str) -> Mapping[str, str]:
    """Return the two durations that a change of time is of, as far apart as it reads."""
    pairs = [(abs(abs(b[1] - a[1]) - abs(change)), a, b) for a, b in combinations(known, 2)]
    _, before, after = min(pairs)
    texts = units.durations_apart(before[1], after[1], change)
    return {before[0]: texts[0], after[0]: texts[1]}


def _of_ratio(known: _Durations, ratio: float, form: str) -> Mapping[str, str]:
    """Return the two durations that a percentage or a factor is of, which give it when divided."""
    for before, after in combinations(known, 2):
        if units.is_ratio(before[1], after[1], ratio):
            shown = formats.shown(ratio, form)
            texts = units.durations_in_ratio(before[1], after[1], [shown])
            return {before[0]: texts[0], after[0]: texts[1]}
    return {}


@lru_cache(maxsize=4096)
def _timed(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the placeholders of durations, and those of changes of time and of ratios with their
    formats, each once."""
    named = [(name, form) for _, name, form in _pieces(text) if name is not None]
    durations = dict.fromkeys(name for name, form in named if form == "duration")
    others = dict.fromkeys(
        (name, form) for name, form in named if form == "signed_duration" or form in _RATIOS
    )
    return tuple(durations), tuple(others)


# With its punctuation.
_HAN = (("\u3000", "\u303f"), ("\u4e00", "\u9fff"), ("\uff00", "\uffef"))


def _set(pieces: Iterator[Part]) -> Iterator[Part]:
    """The pieces without the space that a Chinese sentence has around a placeholder, where what
    stands there is Chinese itself: '规则 比 未融合' is '规则比未融合'. A `name` stays as it is."""
    before: Part | None = None
    for part in filter(lambda piece: piece.text, pieces):
        if before is not None:
            text, after = before.text, part.text
            if part.role != "name" and after[0] == " " and _are_han(text[-1:], after[1:2]):
                part = Part(after[1:], part.role)
            if before.role != "name" and text[-1] == " " and _are_han(text[-2:-1], after[:1]):
                before = Part(text[:-1], before.role)
            yield before
        before = part
    if before is not None:
        yield before


def _are_han(one: str, other: str) -> bool:
    return all(any(low <= text <= high for low, high in _HAN) for text in (one, other))


def _joined(pieces: Iterator[Part]) -> Iterator[Part]:
    """Neighbours of one role as one piece, without the empty ones; each name stands alone."""
    last: Part | None = None
    for part in pieces:
        if not part.text:
            continue
        if last is not None and last.role == part.role != "name":
            last = Part(last.text + part.text, last.role)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last


@lru_cache(maxsize=4096)
def _pieces(text: str) -> tuple[tuple[str, str | None, str], ...]:
    """(text before it, name, format) of every placeholder, as string.Formatter reads them."""
    return tuple(
        (literal, name, form or "") for literal, name, form, _ in string.Formatter().parse(text)
    )
