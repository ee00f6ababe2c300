"""What the timeline draws: one run of each side on a common time scale, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Operator, group_places
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.single import unprofiled_ns
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.operators.classes import LABELS, OP_CLASSES
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.timeline.lane import spoken_name
from fusescope.analysis.timeline.side import drawn_side
from fusescope.analysis.timeline.waiting import known_waits, waits_of_both
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.timeline.script import script_words

_PATTERN_CHARS = 300


def timeline_payload(comparison: Comparison, max_calls: int | None = None) -> dict[str, Any]:
    """Return what the timelines draw, for `Drawing`: `span_ns`, `classes`, `groups`, two `sides`.

    Each side shows one run; times are ns after the start of that run. `row` of an operator
    is its row in `comparison.operators`, `group` the id of its fusion group, null for an operator
    in none. `groups` are those that either side shows, largest gain first; their times are the
    ledger's, means over all runs. Columns of `calls` are arrays, in the order of their starts. No
    two calls of a lane overlap: `depth` of a lane is 0, or counts from there what runs inside, or
    beside, a call of the lane `of`.

    With `max_calls` a longer run is cut: all that began before `shown_ns` is drawn, nothing of what
    began later. A side `in_order` has no start times: its calls stand one after the other in the
    order of the file. `caption` and `folded` (or None) say all that in words, to be told with
    `texts`. A side of which the file says what the host did has it as `host`, a `HostLane`; one
    with `waits` has `waiting_ns` of each call: how long a collective waits for other ranks. In the
    `unrecorded` stretches of a side, `[start, end]` each, it is not known whether the device is
    idle. `origin_ns` of a side is for `drawn_at` and not in what the browser gets, in which it
    would not be exact.
    """
    groups = comparison.fusion.groups
    claims = ([group.baseline for group in groups], [group.candidate for group in groups])
    of_baseline, of_candidate = (
        _group_ids(side.trace, of_side, [group.id for group in groups])
        for side, of_side in zip((comparison.baseline, comparison.candidate), claims, strict=True)
    )
    operators = comparison.operators
    waits = waits_of_both(comparison.baseline, comparison.candidate)
    sides = [
        drawn_side(
            role,
            side,
            _rows(operators[f"operator_{role}"]),
            group_of,
            _unprofiled_ns(role, comparison),
            max_calls,
            waiting,
        )
        for role, side, group_of, waiting in (
            ("baseline", comparison.baseline, of_baseline, waits[0]),
            ("candidate", comparison.candidate, of_candidate, waits[1]),
        )
    ]
    groups_shown = {id_ for side in sides for id_ in side["ops"]["group"]}
    return _payload(sides, _groups(comparison.ledger.rows, groups_shown))


def trace_payload(side: Side, max_calls: int | None = None) -> dict[str, Any]:
    """Payload of timeline.js for one side by itself, as `timeline_payload` without groups: `row` of
    an operator is its row in `by_operator`."""
    operators = by_operator(side.trace)["operator"]
    rows = dict(zip(operators.astype(int), range(len(operators)), strict=True))
    no_groups: list[int | None] = [None] * len(side.trace.operators)
    own_ns, waits = unprofiled_ns(side), known_waits(side)
    return _payload([drawn_side("candidate", side, rows, no_groups, own_ns, max_calls, waits)], [])


def several_payload(multiple: MultipleComparison, max_calls: int | None = None) -> dict[str, Any]:
    """Payload of timeline.js for several sides, in the order of their table, without groups.

    Each side shows a run of what its comparison with the baseline compares. `row` of an operator is
    that of the baseline's which its comparison joins it with, else one number for its name on all
    sides. With `max_calls` they have together at most as many calls as
    the two sides of a comparison.
    """
    places: dict[object, int] = {}
    entries = multiple.entries
    sides = []
    for at in multiple.order:
        side = multiple.compared[at]
        joined = _joined(multiple, at)
        rows = {
            op: places.setdefault(joined.get(op, name), len(places))
            for op, name in enumerate(side.trace.texts("name"))
        }
        verdict, own_ns = entries[at].verdict, None
        if not side.trace.sampled_runs.empty:
            own_ns = unprofiled_ns(side)
            if verdict is not None and verdict.of == "unprofiled_wall":
                own_ns = entries[at].figures["latency"].value
        sides.append(
            drawn_side(
                "candidate" if at else "baseline",
                side,
                rows,
                [None] * len(side.trace.operators),
                own_ns,
                None if max_calls is None else 2 * max_calls // len(multiple.sides),
                known_waits(side),
            )
        )
    return _payload(sides, [])


def _joined(multiple: MultipleComparison, at: int) -> dict[int, object]:
    """Return the baseline's operator, as it is drawn, of each operator of the side `at` that has
    one; empty where the comparison of this side told the baseline's operators apart otherwise."""
    drawn = multiple.compared[0].trace
    if at == 0:
        return {op: op for op in range(len(drawn.operators))}
    one = multiple.comparisons[at - 1]
    if one.baseline.trace.texts("name") != drawn.texts("name"):
        return {}
    table = one.operators[["operator_baseline", "operator_candidate"]].dropna().astype("int64")
    columns = (table[f"operator_{side}"].tolist() for side in ("candidate", "baseline"))
    return dict(zip(*columns, strict=True))


def drawn_at(side: dict[str, Any], stretch: Stretch) -> tuple[int, int] | None:
    """Where a side of a payload draws a stretch of its trace, in ns from the start of what it
    shows; None where that is outside of it, or drawn without start times."""
    if side["origin_ns"] is None:
        return None
    start, end = (
        min(max(0, ns - side["origin_ns"]), side["dur_ns"])
        for ns in (stretch.start_ns, stretch.end_ns)
    )
    return (start, end) if start < end else None


def _payload(sides: list[dict[str, Any]], groups: list[dict[str, Any]]) -> dict[str, Any]:
    used = {name for side in sides for name in side["ops"]["op_class"]}
    return {
        "span_ns": max((side["dur_ns"] for side in sides), default=0),
        "classes": [{"id": name, "label": LABELS[name]} for name in OP_CLASSES if name in used],
        "groups": groups,
        "sides": sides,
    }


def _rows(joined: pd.Series) -> dict[int, int]:
    """Row of the joined table by operator of one side."""
    known = joined.dropna()
    return dict(zip(known.astype("int64").tolist(), known.index.tolist(), strict=True))


def first_starts(side: dict[str, Any]) -> dict[int, int]:
    """When the operator of each row of `comparison.operators` first began on a side of a payload.

    Empty where the file has no start times.
    """
    if side["in_order"]:
        return {}
    calls, rows = side["calls"], side["ops"]["row"]
    # Calls stand in the order of their starts: what is written last is the first one.
    first = np.full(len(rows), -1, dtype="int64")
    first[np.asarray(calls["op"])[::-1]] = np.arange(len(calls["op"]))[::-1]
    latest_first = np.flatnonzero(first >= 0)[np.argsort(-first[first >= 0])]
    starts = np.asarray(calls["start_ns"])[first[latest_first]].tolist()
    chosen = [rows[op] for op in latest_first.tolist()]
    return {row: start for row, start in zip(chosen, starts, strict=True) if row is not None}


def texts(payload: dict[str, Any]) -> dict[str, Any]:
    """What a payload says, in the language that is spoken: `words` of the script, `classes`, and
    of each side `caption` and `folded`, '' for none, and its `lanes`."""
    return {
        "words": script_words(),
        "classes": [
            {"id": entry["id"], "label": entry["label"].text()} for entry in payload["classes"]
        ],
        "sides": [
            {
                "caption": str(side["caption"]),
                "folded": str(side["folded"] or ""),
                "lanes": [{**lane, "label": spoken_name(lane["label"])} for lane in side["lanes"]],
            }
            for side in payload["sides"]
        ],
    }


def _groups(rows: pd.DataFrame, shown: set[int | None]) -> list[dict[str, Any]]:
    return [
        {
            "id": int(row["group"]),
            "pattern": units.middle_cut(str(row["pattern"]), _PATTERN_CHARS),
            "becomes": units.middle_cut(str(row["becomes"]), _PATTERN_CHARS),
            "kind": str(row["kind"]),
            "before_ns": _whole(row["before_ns"]),
            "after_ns": _whole(row["after_ns"]),
            "gain_ns": _whole(row["gain_ns"]),
            "hurts": bool(row["hurts"]),
        }
        for row in rows[rows["group"].isin(shown)].to_dict("records")
    ]


def _whole(ns: float) -> int | None:
    return None if pd.isna(ns) else round(ns)


def _group_ids(
    trace: Trace, claims: Sequence[Sequence[Operator]], ids: Sequence[int]
) -> list[int | None]:
    """The id of each operator's group; None for an operator in none."""
    places = group_places(trace.texts("name"), claims)
    return [ids[index] if index >= 0 else None for index in places]


def _unprofiled_ns(role: str, comparison: Comparison) -> float | None:
    """The side's latency as the figures show it; its own where the verdict rests on other times."""
    side: Side = getattr(comparison, role)
    if side.trace.sampled_runs.empty:
        return None
    if comparison.verdict.of != "unprofiled_wall":
        return unprofiled_ns(side)
    shown: Quantity = getattr(comparison.figure("latency"), role)
    return shown.value
