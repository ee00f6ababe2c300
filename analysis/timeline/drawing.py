"""A drawing: what a timeline of the dashboard begins with, and its answers when it asks for more.

Few calls are sent whole, so that everything is drawn in the browser. Of many an overview is sent,
of which every bin says how much ran in it, and a window of it is answered in more detail.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fusescope.analysis.messages import language
from fusescope.analysis.timeline.detail import MOST_ITEMS, Levels, facts, level_of, shown
from fusescope.analysis.timeline.host_lane import HostLane
from fusescope.analysis.timeline.packing import (
    Columns,
    container,
    json_text,
    overview_side,
    shown_side,
    whole_side,
)
from fusescope.analysis.timeline.payload import texts
from fusescope.analysis.timeline.question import Mark, Question, Search
from fusescope.analysis.timeline.search import find
from fusescope.analysis.timeline.sums import sums

# Calls of all sides that are sent whole; and where fusion groups lead from one side to the other,
# which is drawn of all calls alone.
WHOLE_CALLS = 16_000
WHOLE_GROUPED = 500_000
OVERVIEW_PIXELS = 4096
# Calls and bins of all sides, each with an operator of its own at worst: 350 kB at most.
OVERVIEW_ITEMS = 12_000
MOST_MARKS = 4000  # calls of what is selected that an answer has


@dataclass(frozen=True, eq=False)
class Layers:
    """A payload (analysis.timeline.payload) in every detail; made once for all languages."""

    payload: Mapping[str, Any]

    @property
    def is_whole(self) -> bool:
        """Whether the browser gets every call."""
        calls = sum(len(side["calls"]["op"]) for side in self.payload["sides"])
        return calls <= (WHOLE_GROUPED if self.payload["groups"] else WHOLE_CALLS)

    @cached_property
    def sides(self) -> tuple[Levels, ...]:
        """The levels of each side."""
        return tuple(Levels.of(side) for side in self.payload["sides"])

    @cached_property
    def elsewhere(self) -> tuple[Mapping[int, tuple[int, int]], ...]:
        """For each side how often and how long what is in a row of the table ran."""
        return tuple(_by_row(side) for side in self.payload["sides"])

    def overview(self, items: int = OVERVIEW_ITEMS) -> dict[str, Any]:
        """All of the time, in the finest detail of at most so many calls and bins."""
        windows = [(0, max(1, side["dur_ns"])) for side in self.payload["sides"]]
        return self.shown(windows, OVERVIEW_PIXELS, items)

    def shown(
        self, windows: list[tuple[int, int]], pixels: int, items: int = MOST_ITEMS
    ) -> dict[str, Any]:
        """{level, sides}: what windows show on so many pixels (`detail.shown`), each side with its
        own `level`, and the coarsest of them. Sides that show as much time have one level."""
        if len({end - start for start, end in windows}) < 2:
            levels = [level_of(self.sides, windows, pixels, items)] * len(windows)
        else:
            part = items // len(windows)
            levels = [
                level_of([side], [window], pixels, part)
                for side, window in zip(self.sides, windows, strict=True)
            ]
        return {
            "level": max(levels, default=0),
            "sides": [
                {"level": level, **shown(side, start, end, level, self.elsewhere)}
                for side, (start, end), level in zip(self.sides, windows, levels, strict=True)
            ],
        }


@dataclass(frozen=True, eq=False)
class Drawing:
    """Layers, and what their payload says in one language (`payload.texts`)."""

    layers: Layers
    said: Mapping[str, Any]

    @cached_property
    def base(self) -> bytes:
        """What the browser begins with, for layers.js."""
        columns = Columns(as_text=False)
        items = None if self.layers.is_whole else OVERVIEW_ITEMS
        whole = {**packed(self.layers, self.said, columns, items=items), "drawing": self.id}
        return container(whole, columns)

    @cached_property
    def id(self) -> str:
        """A name of what is drawn, which tells it from everything else that is."""
        digest = hashlib.sha256(json_text(_told(self.layers, self.said)).encode("utf-8"))
        for side in self.layers.payload["sides"]:
            digest.update("\0".join(name or "" for name in side["ops"]["name"]).encode("utf-8"))
            for column in side["calls"].values():
                digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
            if (host := side.get("host")) is not None:
                digest.update(host.digest)
        return digest.hexdigest()[:32]

    def answer(self, question: Question) -> bytes:
        """The answer to a question of the browser about this drawing."""
        columns = Columns(as_text=False)
        payload = self.layers.payload
        answer: dict[str, Any] = {"drawing": self.id, "answers": question.number}
        if question.windows is not None and len(question.windows) == len(payload["sides"]):
            windows = _inside(question.windows, payload)
            found = self.layers.shown(windows, question.pixels)
            sides = [shown_side(side, columns) for side in found["sides"]]
            answer["shown"] = {"level": found["level"], "sides": sides}
            if question.mark is not None:
                answer["marks"] = [
                    {**each, "calls": columns.numbers(each["calls"])}
                    for each in self._marks(question.mark, windows)
                ]
        if question.stretch is not None:
            answer["sums"] = self._sums(question.stretch, columns)
        if question.search is not None:
            answer["hit"] = self._hit(question.search, columns)
        return container(answer, columns)

    def _marks(self, mark: Mark, windows: list[tuple[int, int]]) -> list[dict[str, Any]]:
        """Calls of what is selected, on each side: how many, and those in view."""
        found = []
        for number, (side, (start, end)) in enumerate(
            zip(self.layers.payload["sides"], windows, strict=True)
        ):
            if mark.rows:
                ops = [op for op, row in enumerate(side["ops"]["row"]) if row in mark.rows]
            else:
                ops = [mark.op] if mark.side == number else []
            calls = {name: np.asarray(column) for name, column in side["calls"].items()}
            of = np.flatnonzero(np.isin(calls["op"], ops))
            begins = calls["start_ns"][of]
            seen = of[(begins < end) & (begins + calls["dur_ns"][of] > start)]
            seen = seen[:: -(-len(seen) // MOST_MARKS) or 1]
            shown = {name: calls[name][seen] for name in ("lane", "start_ns", "dur_ns")}
            host: HostLane | None = side.get("host")
            if host is not None and host.waits_ns is not None:
                shown["waits"] = host.waits_ns[seen] + 1
            found.append({"count": len(of), "calls": shown})
        return found

    def _sums(
        self, spans: Sequence[tuple[int, int] | None], columns: Columns
    ) -> list[dict[str, Any]]:
        found = []
        for number, (side, span) in enumerate(
            zip(self.layers.payload["sides"], spans, strict=False)
        ):
            if span is None:
                continue
            of = sums(side, *span)
            ids = np.array([each["op"] for each in of["operators"]], dtype="int64")
            ops = facts(side["ops"], ids, self.layers.elsewhere)
            longest = [_call(side, each["longest"]) for each in of["operators"]]
            found.append({
                **of, "side": number, "longest": longest, "ops": columns.operators(ops),
            })  # fmt: skip
        return found

    def _hit(self, search: Search, columns: Columns) -> dict[str, Any]:
        payload = self.layers.payload
        hit = find(payload, search)
        if hit.side is None or hit.call is None:
            return {"hits": 0}
        side = payload["sides"][hit.side]
        op = int(side["calls"]["op"][hit.call])
        ops = facts(side["ops"], np.array([op]), self.layers.elsewhere)
        return {
            "hits": hit.hits,
            "place": hit.place,
            "side": hit.side,
            "number": hit.call,
            "call": _call(side, hit.call),
            "ops": columns.operators(ops),
        }


@dataclass(frozen=True)
class Drawings:
    """The drawings of a payload, one for each language in which it was asked for."""

    payload: dict[str, Any]
    _made: dict[str, Drawing] = field(default_factory=dict)

    @cached_property
    def _layers(self) -> Layers:
        return Layers(self.payload)

    @property
    def spoken(self) -> Drawing:
        """The one in the language that is spoken."""
        code = language.current()
        if code not in self._made:
            self._made[code] = Drawing(self._layers, texts(self.payload))
        return self._made[code]


def packed(
    layers: Layers,
    said: Mapping[str, Any],
    columns: Columns,
    others: Mapping[str, Any] | None = None,
    items: int | None = None,
) -> dict[str, Any]:
    """What the browser begins with: the payload with what it says (`payload.texts`), and what
    `others` say in other languages, by their codes: of all calls, or an overview of so many calls
    and bins."""
    told = {**_told(layers, said), **({"languages": others} if others else {})}
    sides = list(zip(layers.payload["sides"], told["sides"], strict=True))
    if items is None:
        return {**told, "sides": [{**whole_side(side, columns), **says} for side, says in sides]}
    overview = layers.overview(items)
    return {
        **told,
        "level": overview["level"],
        "sides": [
            {**overview_side(side, found, columns), **says}
            for (side, says), found in zip(sides, overview["sides"], strict=True)
        ],
    }


def _told(layers: Layers, said: Mapping[str, Any]) -> dict[str, Any]:
    return {**layers.payload, **said}


def _by_row(side: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    row_of = np.array([-1 if row is None else row for row in side["ops"]["row"]], dtype="int64")
    rows = row_of[np.asarray(side["calls"]["op"], dtype="int64")]
    is_joined = rows >= 0
    calls = np.bincount(rows[is_joined])
    durs = np.asarray(side["calls"]["dur_ns"])[is_joined]
    times = np.bincount(rows[is_joined], weights=durs).astype("int64")
    ran = np.flatnonzero(calls)
    counted = zip(calls[ran].tolist(), times[ran].tolist(), strict=True)
    return dict(zip(ran.tolist(), counted, strict=True))


def _call(side: Mapping[str, Any], number: int) -> dict[str, int]:
    names = ("lane", "start_ns", "dur_ns")
    return {name: int(side["calls"][name][number]) for name in names}


def _inside(
    windows: tuple[tuple[int, int], ...], payload: Mapping[str, Any]
) -> list[tuple[int, int]]:
    """The windows as far as they lie in the runs."""
    found = []
    for (start, end), side in zip(windows, payload["sides"], strict=True):
        last = max(1, side["dur_ns"])
        first = min(max(0, start), last - 1)
        found.append((first, max(first + 1, min(end, last))))
    return found
