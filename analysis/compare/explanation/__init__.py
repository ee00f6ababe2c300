"""Two traces in, what an expert would say of them out: causes, places, times."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.align.alignment import Alignment, align, is_order
from fusescope.analysis.compare.explanation.alone import (
    kernels_of_one_side,
    kernels_of_one_size,
    kernels_of_some_units,
)
from fusescope.analysis.compare.explanation.clocks import clocks, ratio_of_same
from fusescope.analysis.compare.explanation.communication import are_stages, communication_changes
from fusescope.analysis.compare.explanation.differing import (
    differing_kernels,
    other_kernels_of_operators,
    together,
    work_in_pieces,
)
from fusescope.analysis.compare.explanation.earlier import earlier_units
from fusescope.analysis.compare.explanation.explanation import (
    Change,
    ChangeCode,
    Difference,
    Explanation,
    Outcome,
    UnitTimes,
)
from fusescope.analysis.compare.explanation.idle import WAITS, are_the_same_time, idle_changes
from fusescope.analysis.compare.explanation.layers import layers_of, more_layers
from fusescope.analysis.compare.explanation.operators import (
    are_of_other_kernels,
    classes,
    do_same_heavy_work,
    operator_changes,
    share_in_common,
)
from fusescope.analysis.compare.explanation.other_inputs import batch_factor, other_types
from fusescope.analysis.compare.explanation.pieces import all_positions
from fusescope.analysis.compare.explanation.products import products_of, products_of_phases
from fusescope.analysis.compare.explanation.remaining import Remaining
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.explanation.single import outliers, slow_layers
from fusescope.analysis.compare.explanation.subjects import changed_times
from fusescope.analysis.compare.explanation.unit_sides import unit_of_side
from fusescope.analysis.compare.graphs.captured import captured_graph
from fusescope.analysis.compare.joining.weights import other_weights
from fusescope.analysis.limits import MOST_DISTINCT
from fusescope.analysis.ranks.pair import RankPair
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import (
    Units,
    common_units,
    same_work,
    steady_units,
    with_common_runs,
)
from fusescope.analysis.work_units.units import whole_file

_LEAST = 0.003  # of the kernels of a unit of the baseline: a change below it is part of the rest
_SEEN = 1 / 3  # of that for kernels that came or went, which no noise makes
_IDLE = 0.003  # the same of idle time, of the unit
_NOISE = 0.01  # of a unit: times that change by less are no change by themselves
_STRUCTURE: tuple[ChangeCode, ...] = (
    "added", "removed", "fused", "split", "replaced", "pieces", "repeats", "place", "outlier",
)  # fmt: skip
_MOST = 20  # kernels of a side that are listed
_COMMON = 0.5  # of the time, in operators that both sides run: of two models it is less
_SAME = 0.02  # of a unit: below it, without any change that is told, nothing changed


def explain(before: Trace, after: Trace, ranks: RankPair | None = None) -> Explanation | None:
    """Return what changed from one trace to the other, which may be two `ranks`; None where a side
    has no kernels."""
    if not len(before.calls) or not len(after.calls):
        return None
    return replace(_explained(before, after, ranks), ranks=ranks)


def _explained(before: Trace, after: Trace, ranks: RankPair | None) -> Explanation:
    before, after = with_common_runs(before, after)
    if max(len(trace.operators) for trace in (before, after)) > MOST_DISTINCT:
        whole = [ExplainedSide.of(trace, whole_file(trace)) for trace in (before, after)]
        return Explanation("not_comparable", _times((whole[0], whole[1])), difference="names")
    units = same_work(*common_units(before, after))
    sides = (_side(before, units[0]), _side(after, units[1]))
    times = _times(sides)
    explanation = _of_sides(before, after, sides, times, ranks)
    are_behind = all(one.is_behind for one in units)
    return replace(
        explanation,
        sides=(unit_of_side(sides[0]), unit_of_side(sides[1])),
        earlier=_earlier(explanation, before, after) if are_behind else None,
        device=before.meta.device if before.meta.device == after.meta.device else None,
    )


def _earlier(explanation: Explanation, before: Trace, after: Trace) -> Explanation | None:
    """Return what changed in what was launched before the files began; None where a side has
    nothing of it. The files do not name its operators, so kernels of two devices are not
    compared."""
    sides = [ExplainedSide.of(trace, earlier_units(trace)) for trace in (before, after)]
    if not all(len(side.profile.operators) for side in sides):
        return None
    pair = (sides[0], sides[1])
    if explanation.has_other_kernels:
        return _not_compared("models", _times(pair), pair)
    return _of_sides(before, after, pair, _times(pair), None)


def _side(trace: Trace, units: Units) -> ExplainedSide:
    return ExplainedSide.of(trace, steady_units(trace, units)[0])


def _of_sides(
    before: Trace,
    after: Trace,
    sides: tuple[ExplainedSide, ExplainedSide],
    times: UnitTimes,
    ranks: RankPair | None,
) -> Explanation:
    other_work = _of_other_work(before, after, sides, times, ranks)
    if other_work is not None:
        return other_work
    least_ns = _LEAST * min(times.before_ns, sides[0].kernels_ns)
    alignment = align(sides[0].sequence, sides[1].sequence)
    left = Remaining.of(sides, alignment)
    has_other_kernels = are_of_other_kernels(sides) and not left.is_renamed
    if has_other_kernels:
        is_one_model = share_in_common(sides) >= _COMMON
    else:
        common_share = alignment.common_share_with(all_positions(left.pieces))
        is_one_model = left.is_renamed or is_order(common_share)
    if not (is_one_model or do_same_heavy_work(sides)):
        return _not_compared("models", times, sides)
    if has_other_kernels or not is_one_model:
        changes = operator_changes(sides, least_ns, by_class=not is_one_model)
        has_other_kernels, ratio = True, None
    else:
        changes, ratio = _kernel_changes(left, alignment, least_ns)
    changes += communication_changes(sides, least_ns, ranks)
    changes += idle_changes(sides, _IDLE * times.before_ns)
    changes = _largest_first(changes)
    return Explanation(
        _outcome(sides, times, changes),
        times,
        tuple(changes),
        _difference(sides, changes, times, ranks),
        classes(sides),
        ratio,
        (layers_of(sides[0]), layers_of(sides[1])),
        (sides[0].heaviest(_MOST), sides[1].heaviest(_MOST)),
        has_other_kernels,
        left.pairs(),
        batch=None if has_other_kernels else batch_factor(left),
        products=(
            (products_of(sides[0]), products_of(sides[1])) if has_other_kernels else ((), ())
        ),
        data_types=other_types(sides, always=has_other_kernels),
    )


def _of_other_work(
    before: Trace,
    after: Trace,
    sides: tuple[ExplainedSide, ExplainedSide],
    times: UnitTimes,
    ranks: RankPair | None,
) -> Explanation | None:
    """Return what is known of a capture beside its replay, of models whose weights have other
    sizes, and of two phases of serving; None of any other pair."""
    graph = captured_graph(before, after)
    if graph is not None:
        return replace(_not_compared("capture", times, sides), graph=graph)
    weights = None if ranks is not None and ranks.is_one_job else other_weights(before, after)
    if weights is not None:
        return replace(_not_compared("weights", times, sides), weights=weights)
    phases = {work.phase for work in times.works} - {None}
    if len(phases) < 2:
        return None
    products = products_of_phases(sides, times.works)
    return replace(_not_compared("phases", times, sides), products=products)


def _largest_first(changes: list[Change]) -> list[Change]:
    """Return the changes by size, all that was fused as one, and all that no longer is."""
    apart = [change for change in changes if change.code not in ("fused", "split")]
    joined = [*together(changes, "fused"), *together(changes, "split"), *apart]
    return sorted(joined, key=lambda change: -abs(change.change_ns))


def _difference(
    sides: tuple[ExplainedSide, ExplainedSide],
    changes: list[Change],
    times: UnitTimes,
    ranks: RankPair | None,
) -> Difference | None:
    """Return why two sides that can be compared do different work; None where nothing says it."""
    if _are_stages(changes, times, ranks):
        return "stages"
    works = [set(side.units.work) for side in sides]
    is_of_phase = all(len(of) == 1 and next(iter(of)).phase is not None for of in works)
    return "sizes" if is_of_phase and works[0] != works[1] else None


def _are_stages(changes: list[Change], times: UnitTimes, ranks: RankPair | None) -> bool:
    """Return whether two files are stages of one pipeline: as they say it, else as their times look
    where they may be of one job."""
    if ranks is None:
        return are_stages(changes, times)
    if not ranks.is_one_job or ranks.are_stages is False:
        return False
    return ranks.are_stages or are_stages(changes, times)


def _not_compared(
    difference: Difference, times: UnitTimes, sides: tuple[ExplainedSide, ExplainedSide]
) -> Explanation:
    """Return what is known of two sides that do different work."""
    layers = (layers_of(sides[0]), layers_of(sides[1]))
    return Explanation(
        "not_comparable",
        times,
        difference=difference,
        classes=classes(sides),
        layers=layers,
        kernels=(sides[0].heaviest(_MOST), sides[1].heaviest(_MOST)),
    )


def _kernel_changes(
    left: Remaining, alignment: Alignment, least_ns: float
) -> tuple[list[Change], float | None]:
    """Return what changed in the order of kernels, each taken from what is left, and the ratio of
    the kernels that are the same."""
    changes = work_in_pieces(left, least_ns * _SEEN)
    changes += outliers(left, least_ns)
    ratio = ratio_of_same(left)
    changes += more_layers(left, least_ns)
    changes += kernels_of_one_size(left, least_ns)
    changes += other_kernels_of_operators(left, least_ns * _SEEN)
    changes += differing_kernels(left, alignment, least_ns * _SEEN)
    changes += kernels_of_one_side(left, least_ns)
    changes += kernels_of_some_units(left, least_ns)
    changes += slow_layers(left, least_ns)
    clock = clocks(left, alignment)
    changes += changed_times(left, least_ns)
    if clock is not None and abs(clock.change_ns) >= least_ns:
        changes.append(clock)
    return changes, ratio


def _times(sides: tuple[ExplainedSide, ExplainedSide]) -> UnitTimes:
    before, after = (side.units for side in sides)
    return UnitTimes(
        before.kind,
        before.name,
        before.evidence,
        (before.count, after.count),
        round(before.mean_ns),
        round(after.mean_ns),
        (before.work[0], after.work[0]),
        (round(sides[0].busy_ns), round(sides[1].busy_ns)),
        (sides[0].count, sides[1].count),
        all((side.trace.operators["level"] == "device_kernel").any() for side in sides),
        frozenset(kind for side in sides for kind in side.others),
        all(side.has_starts for side in sides),
        end_with_kernels=any(side.units.end_with_kernels for side in sides),
        pauses_ns=_pauses_ns(sides),
    )


def _pauses_ns(sides: tuple[ExplainedSide, ExplainedSide]) -> tuple[int, int] | None:
    """Return the mean time from the end of a unit to the next one on each side; None where units
    last until then, and of a side with one."""
    units = [side.units for side in sides]
    if not any(each.end_with_kernels for each in units) or min(each.count for each in units) < 2:
        return None
    before, after = (
        round(float((each.starts_ns[1:] - (each.starts_ns + each.walls_ns)[:-1]).mean()))
        for each in units
    )
    return before, after


def _outcome(
    sides: tuple[ExplainedSide, ExplainedSide], times: UnitTimes, changes: list[Change]
) -> Outcome:
    """Return whether something changed: kernels that came or went, or a time by more than noise,
    which is a share of the kernels for them, and of the unit for idle time."""
    kernels_ns = min(times.before_ns, sides[0].kernels_ns)
    beyond_noise = []
    for change in changes:
        is_seen = change.code in _STRUCTURE or change.values.get("kind") in WAITS
        is_seen &= "executions" not in change.values  # of some units alone
        noise_ns = _NOISE * (times.before_ns if change.code == "idle" else kernels_ns)
        if (is_seen or abs(change.change_ns) >= noise_ns) and not _is_warmup(sides, change):
            beyond_noise.append(change)
    if not beyond_noise:
        is_same = abs(times.change_ns) < _SAME * times.before_ns or are_the_same_time(sides)
        return "no_change" if is_same else "changed"
    if beyond_noise[0].code == "clocks":
        others = sum(abs(change.change_ns) for change in beyond_noise[1:])
        return "clock" if others < 0.25 * abs(beyond_noise[0].change_ns) else "changed"
    return "changed"


def _is_warmup(sides: tuple[ExplainedSide, ExplainedSide], change: Change) -> bool:
    """Return whether a change is one long execution in the first of several units."""
    side = change.values.get("side")
    if change.code != "outlier" or not isinstance(side, int):
        return False
    return sides[side].units.count > 2 and change.values.get("unit") == 0
