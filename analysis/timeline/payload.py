"""What the timeline draws: one run of each side on a common time scale, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Operator, group_places
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.side import Side, ranks_of
from fusescope.analysis.compare.single import unprofiled_ns
from fusescope.analysis.messages import Said
from fusescope.analysis.metrics.breakdown import by_operator, distinct_operators, steady_calls
from fusescope.analysis.metrics.spans import call_times, run_spans
from fusescope.analysis.metrics.step import place_of_shown, shown_run
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.operators.classes import LABELS, OP_CLASSES
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.ranks.waits import Waits, waits_of, waits_of_pair
from fusescope.analysis.timeline.depth import MAX_DEPTH, rows_of
from fusescope.analysis.timeline.host_lane import HostLane, host_lane
from fusescope.analysis.timeline.lane import Lane, lanes, spoken_name
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.timeline import drawn as wording
from fusescope.analysis.wording.timeline.script import script_words
from fusescope.analysis.work_units import run_word

# Characters of the names, or shapes, of all operators: beyond it each is cut in the middle.
MAX_CHARS = 2_000_000
_MIN_CHARS = 24
_PATTERN_CHARS = 300
_LATE = 0.01  # part of a run that its operators may end after it without a word
_OPERATOR_FIELDS = ("name", "op_type", "op_class", "inputs", "outputs", "provider")
_CALL_FIELDS = [
    "operator", "run", "device", "stream", "start_ns", "dur_ns", "span_ns", "n", "source_row"
]  # fmt: skip


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
    with `waits` has `waiting_ns` of each call: how long a collective waits for other ranks.
    `origin_ns` of a side is for `drawn_at` and not in what the browser gets, in which it
    would not be exact.
    """
    groups = comparison.fusion.groups
    claims = ([group.baseline for group in groups], [group.candidate for group in groups])
    of_baseline, of_candidate = (
        _group_ids(side.trace, of_side, [group.id for group in groups])
        for side, of_side in zip((comparison.baseline, comparison.candidate), claims, strict=True)
    )
    operators = comparison.operators
    waits = _waits_of_both(comparison.baseline, comparison.candidate)
    sides = [
        _side(
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
    own_ns, waits = unprofiled_ns(side), _known_waits(side)
    return _payload([_side("candidate", side, rows, no_groups, own_ns, max_calls, waits)], [])


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
            _side(
                "candidate" if at else "baseline",
                side,
                rows,
                [None] * len(side.trace.operators),
                own_ns,
                None if max_calls is None else 2 * max_calls // len(multiple.sides),
                _known_waits(side),
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


@dataclass(frozen=True)
class _Run:
    """The run that one side shows: the calls to draw with their places, in order.

    `own` says which calls are of the run; others ran in its time, clipped to what is drawn: `cut`
    says which of them began before. `total` calls have a place, of which `others` are not of the
    run; `unplaced` have none because they lack a start where others have one. `place` is which of
    several runs it is, None of the only one. `busy_ns` is the union of operator times of a file
    that does not mark its runs, None of a run and where it is not known. `end_ns` is where the last
    of all ends; `shown_ns` where the first begins that is not drawn, None where all are. Times are
    after `origin_ns` of the trace's clock, None where they are not times of it.
    """

    calls: pd.DataFrame
    own: np.ndarray
    cut: np.ndarray
    start_ns: np.ndarray
    dur_ns: np.ndarray
    run_ns: int
    place: Said | None
    busy_ns: float | None
    total: int
    others: int
    unplaced: int
    in_order: bool
    end_ns: int
    shown_ns: int | None
    origin_ns: int | None


def _run(trace: Trace, max_calls: int | None) -> _Run:
    run = shown_run(trace)
    calls = steady_calls(trace)[_CALL_FIELDS]  # a copy of counters, which may be many, takes longer
    row = trace.profiled_runs[trace.profiled_runs["run"] == run]
    if run is not None:
        calls = calls[calls["run"] == run]
        beside = _beside(trace, row, calls)
        calls = pd.concat([calls, beside]) if len(beside) else calls
    has_start = calls["start_ns"].notna().to_numpy()
    in_order = len(calls) > 0 and not has_start.any()
    unplaced = 0 if in_order else int((~has_start).sum())
    origin: int | None = None
    own, cut = _of_run(calls, run), np.zeros(len(calls), dtype=bool)
    if in_order:
        dur_ns = calls["dur_ns"].to_numpy(dtype="int64")
        start = np.cumsum(dur_ns) - dur_ns
    else:
        calls, own = calls[has_start], own[has_start]
        start, dur_ns = call_times(calls)
        known = len(row) > 0 and not pd.isna(row["start_ns"].iloc[0])
        origin = int(row["start_ns"].iloc[0]) if known else int(start.min()) if len(start) else 0
        start = start - origin
        if not own.all():
            start, dur_ns, cut = _clipped(start, dur_ns, own, int(row["dur_ns"].iloc[0]))
        order = _in_order(start, dur_ns)
        calls, own = calls.iloc[order], own[order]
        start, dur_ns, cut = start[order], dur_ns[order], cut[order]
    total = len(calls)
    return _Run(
        calls=calls.iloc[:max_calls],
        own=own[:max_calls],
        cut=cut[:max_calls],
        start_ns=start[:max_calls],
        dur_ns=dur_ns[:max_calls],
        run_ns=int(row["dur_ns"].iloc[0]) if len(row) and not trace.ends_early else 0,
        place=_place(trace),
        busy_ns=None if trace.has_runs or in_order else _busy_ns(trace),
        total=total,
        others=total - int(own.sum()),
        unplaced=unplaced,
        in_order=in_order,
        end_ns=int((start + dur_ns).max(initial=0)),
        shown_ns=int(start[max_calls]) if max_calls is not None and total > max_calls else None,
        origin_ns=origin,
    )


def _place(trace: Trace) -> Said | None:
    """Return which of several runs is shown, and why that one; where none is near it the mean."""
    place = place_of_shown(trace)
    if place is None:
        return None
    if trace.has_blocks:
        return wording.median_said(place[1])
    runs = trace.profiled_runs
    dur_ns = runs[runs["run"].isin(steady_runs(trace).runs)]["dur_ns"]
    shown_ns = int(runs[runs["run"] == shown_run(trace)]["dur_ns"].iloc[0])
    return wording.nearest_said(
        run_word(trace), *place, shown_ns, float(dur_ns.mean()), _idle_ns(trace)
    )


def _idle_ns(trace: Trace) -> tuple[float, float] | None:
    """Return how long the run that is shown is idle, and the mean of all; None where unknown."""
    spans = run_spans(trace)
    gaps = spans["gap_ns"]
    own = gaps[spans["run"] == shown_run(trace)]
    if gaps.isna().any() or own.empty:
        return None
    return float(own.iloc[0]), float(gaps.mean())


def _of_run(calls: pd.DataFrame, run: int | None) -> np.ndarray:
    """Return which calls are of a run; all without one."""
    if run is None:
        return np.ones(len(calls), dtype=bool)
    own: np.ndarray = calls["run"].to_numpy("int64", na_value=-1) == run
    return own


def _beside(trace: Trace, row: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Return the calls that run in the time of a run, or until the last of its `own` ends, and are
    not of it, such as kernels launched before: where they were not drawn the device would seem
    idle. None of recordings, whose blocks have clocks of their own."""
    calls = trace.calls
    if row.empty or pd.isna(row["start_ns"].iloc[0]) or trace.runs["block"].notna().any():
        return calls.iloc[:0][_CALL_FIELDS]
    begin, run = int(row["start_ns"].iloc[0]), int(row["run"].iloc[0])
    starts, lasts = call_times(own[own["start_ns"].notna()])
    last = max(begin + int(row["dur_ns"].iloc[0]), int((starts + lasts).max(initial=0)))
    starts, lasts = call_times(calls)
    # What takes no time by the clock of the file is an execution, too.
    inside = (starts < last) & ((starts >= begin) | (starts + lasts > begin))
    inside &= calls["start_ns"].notna().to_numpy() & ~_of_run(calls, run)
    beside: pd.DataFrame = calls.loc[inside, _CALL_FIELDS]
    return beside


def _clipped(
    start: np.ndarray, dur_ns: np.ndarray, own: np.ndarray, run_ns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts and lengths of calls, those that are not of the run clipped to what is drawn,
    from 0 to the end of the run or of its last call, and which of these began before."""
    last = int((start + dur_ns)[own].max(initial=run_ns))
    first = np.where(own, start, np.maximum(start, 0))
    end = np.where(own, start + dur_ns, np.minimum(start + dur_ns, last))
    return first, end - first, start < first


def _busy_ns(trace: Trace) -> float | None:
    """Return the union of operator times of a file that counts as one run; None where not known."""
    busy = run_spans(trace)["busy_ns"].dropna()
    return float(busy.iloc[0]) if len(busy) == 1 else None


def _in_order(start: np.ndarray, dur_ns: np.ndarray) -> np.ndarray:
    """The order by start, of equal ones the longest first: as np.lexsort, in a fraction of its time
    where most stand in order and few are equal."""
    order = np.argsort(start, kind="stable")
    equal = np.flatnonzero(np.diff(start[order]) == 0)
    places = np.union1d(equal, equal + 1)
    those = order[places]
    order[places] = those[np.lexsort((-dur_ns[those], start[those]))]
    return order


def _side(
    role: str,
    side: Side,
    row_of: Mapping[int, int],
    group_of: list[int | None],
    unprofiled_ns: float | None,
    max_calls: int | None,
    waits: Waits | None,
) -> dict[str, Any]:
    trace = side.trace
    run = _run(trace, max_calls)
    operators, position = np.unique(run.calls["operator"].to_numpy(), return_inverse=True)
    found, lane = _lanes(trace, run)
    dur_ns = run.end_ns if run.in_order else max(run.run_ns, run.end_ns)
    rows, row = rows_of(lane, run.start_ns, run.dur_ns, len(found))
    placed = row >= 0
    shown_ns = dur_ns if run.shown_ns is None else run.shown_ns
    host = _host(trace, run, shown_ns, placed)
    waiting = _waiting(waits, run, placed)
    return {
        "id": role,
        "label": side.name,
        "caption": _caption(trace, unprofiled_ns, run, found, int((~placed).sum())),
        "folded": _folded(found),
        "dur_ns": dur_ns,
        "shown_ns": shown_ns,
        "not_drawn": run.total - len(run.calls),
        "in_order": run.in_order,
        "origin_ns": run.origin_ns,
        "lanes": [
            {"label": found[of].label, "small": found[of].is_small, "of": of, "depth": depth}
            for of, depth in rows
        ],
        "ops": _operators(trace, operators, row_of, group_of),
        "calls": {
            "op": position[placed],
            "lane": row[placed],
            "start_ns": run.start_ns[placed],
            "dur_ns": run.dur_ns[placed],
            **({} if waiting is None else {"waiting_ns": waiting}),
        },
        **({} if waiting is None else {"waits": True}),
        **({} if host is None else {"host": host}),
    }


def _waits_of_both(first: Side, second: Side) -> tuple[Waits | None, Waits | None]:
    """Return what the collectives of each side wait for other ranks: measured of two ranks of one
    job; None where nothing in the file counts it."""
    ranks = ranks_of(first, second)
    pair = None
    if ranks is not None and ranks.is_one_job:
        pair = waits_of_pair(first.trace, second.trace)
    return pair or (_known_waits(first), _known_waits(second))


def _known_waits(side: Side) -> Waits | None:
    """Return what the profiler counts of waiting; None where it is modelled only."""
    waits = waits_of(side.trace)
    return waits if waits is not None and waits.basis == "counter" else None


def _waiting(waits: Waits | None, run: _Run, placed: np.ndarray) -> np.ndarray | None:
    """Return how long each call that is drawn waits, at most as long as it lasts; None where none
    is known to."""
    if waits is None:
        return None
    found = np.clip(waits.each(run.calls.index.to_numpy()), 0, run.dur_ns)[placed]
    return found if found.any() else None


def _host(trace: Trace, run: _Run, shown_ns: int, placed: np.ndarray) -> HostLane | None:
    """Return the lane of the host below what is drawn; None where nothing is known of the host."""
    if run.origin_ns is None or shown_ns <= 0:
        return None
    # How long before its start a call was launched does not follow from where it is cut.
    rows = np.where(run.cut, -1, run.calls["source_row"].to_numpy("int64", na_value=-1))[placed]
    return host_lane(trace, run.origin_ns, shown_ns, rows, run.start_ns[placed])


def _lanes(trace: Trace, run: _Run) -> tuple[tuple[Lane, ...], np.ndarray]:
    """Lanes and the lane of each call; one lane where nobody knows what ran beside what."""
    if run.in_order:
        busy = int(run.dur_ns.sum())
        return (Lane("", len(run.calls), busy),), np.zeros(len(run.calls), dtype="int64")
    is_communication = trace.operators["is_communication"].to_numpy()[
        run.calls["operator"].to_numpy()
    ]
    return lanes(run.calls, is_communication, trace.meta.format)


def _folded(found: Sequence[Lane]) -> Said | None:
    """The sentence on the lanes that are folded; None where none is."""
    small = [lane for lane in found if lane.is_small]
    if not small:
        return None
    busy, all_busy = (sum(lane.busy_ns for lane in each) for each in (small, found))
    share = busy / all_busy if all_busy else 0.0
    return wording.folded_text(len(small), sum(lane.calls for lane in small), busy, share)


def _operators(
    trace: Trace,
    operators: np.ndarray,
    row_of: Mapping[int, int],
    group_of: list[int | None],
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name: _fitting(trace.operators[name].array, operators, MAX_CHARS)
        for name in _OPERATOR_FIELDS
    }
    numbers = operators.tolist()
    columns["row"] = [row_of.get(op) for op in numbers]
    columns["group"] = [group_of[op] for op in numbers]
    return columns


def _fitting(column: pd.Categorical, rows: np.ndarray, max_chars: int) -> list[str | None]:
    """The texts in these rows, None for null; cut in the middle where together they have more than
    `max_chars` characters."""
    codes = column.codes[rows]
    used = np.unique(codes[codes >= 0])
    texts = np.full(len(column.categories) + 1, None, dtype=object)  # the last is null's
    texts[used] = column.categories.to_numpy(dtype=object)[used]
    chars = np.array([len(text or "") for text in texts], dtype="int64")
    if chars[codes].sum() > max_chars:
        each = max(_MIN_CHARS, max_chars // len(rows))
        texts[used] = [units.middle_cut(text, each) for text in texts[used]]
    told: list[str | None] = texts[codes].tolist()
    return told


def _unprofiled_ns(role: str, comparison: Comparison) -> float | None:
    """The side's latency as the figures show it; its own where the verdict rests on other times."""
    side: Side = getattr(comparison, role)
    if side.trace.sampled_runs.empty:
        return None
    if comparison.verdict.of != "unprofiled_wall":
        return unprofiled_ns(side)
    shown: Quantity = getattr(comparison.figure("latency"), role)
    return shown.value


def _caption(
    trace: Trace,
    unprofiled_ns: float | None,
    run: _Run,
    found: Sequence[Lane],
    too_deep: int,
) -> Said:
    operators = distinct_operators(trace, np.unique(run.calls["operator"].to_numpy()[run.own]))
    is_whole = not run.in_order and run.shown_ns is None
    facts = [
        wording.EXECUTIONS.of(operators=operators, n=run.total - run.others)
        if is_whole and run.total - run.others > operators
        else wording.OPERATORS.of(n=operators)
    ]
    if run.place is not None:
        facts.append(run.place)
    if run.run_ns and unprofiled_ns is not None:
        facts.append(wording.BOTH_TIMES.of(time=run.run_ns, unprofiled=unprofiled_ns))
    elif run.busy_ns is not None and run.run_ns:
        facts.append(wording.time_of_file(run.busy_ns, run.run_ns))
    elif run.run_ns:
        facts.append(wording.PROFILED.of(time=run.run_ns))
    if len(found) == 1 and found[0].label and not found[0].label.startswith("CPU"):
        facts.append(wording.ON_LANE.of(lane=found[0].label))
    sentences: list[Said] = []
    if run.others:
        sentences.append(wording.others_text(run.others, int(run.cut.sum())))
    ends_ns = (run.start_ns + run.dur_ns)[run.own]
    late_ns = int(ends_ns.max(initial=0)) - run.run_ns
    if is_whole and run.run_ns and late_ns > _LATE * run.run_ns:  # else the axis would be a riddle
        sentences.append(wording.OUTLIVED[run_word(trace)].of(late=late_ns))
    if run.in_order:
        sentences.append(wording.in_order_text(bool((run.calls["n"] > 1).any())))
    if run.unplaced:
        sentences.append(wording.unplaced_text(run.unplaced))
    if run.shown_ns is not None:
        sentences.append(wording.cut_text(len(run.calls), run.total))
    if too_deep:
        sentences.append(wording.too_deep_text(too_deep, MAX_DEPTH))
    return wording.caption(facts, sentences)
