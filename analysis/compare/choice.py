"""Which two sides are compared when the user names files and, perhaps, variants."""

from __future__ import annotations

from collections.abc import Container

from fusescope.analysis.compare.side import Side, holds_several, side_of_trace, side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.spelling import nearest
from fusescope.analysis.trace import Trace

# What to show first when nobody said which variant: the most optimised one there is.
PREFERRED = ("fused", "extended", "basic")
_AS_MUCH = 0.5  # of the time of the process or device that a file is shown by
# Steps towards what all others are compared with: even where one is faster, it fuses nothing.
BEFORE_FUSION = ("eager", "captured", "generated")


def choose_sides(
    first: Trace | Experiment,
    second: Trace | Experiment | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
) -> tuple[Side, Side]:
    """Baseline and candidate of one or two files.

    One experiment compares its baseline with its most optimised variant unless named; a kernel of
    one's own with the same cut without it. Of two
    experiments, without names, the same variant of both is taken: the most optimised that both
    have. Raises FuseScopeError for an unknown variant (naming the nearest), for one bare trace
    without a second, and for a name given to a bare trace.
    """
    if second is None:
        if not isinstance(first, Experiment):
            if first.others:
                return side_of(first, baseline), side_of(
                    first, candidate or _other(first, baseline)
                )
            raise FuseScopeError("one_side", where=first.meta.file_name)
        base, other = chosen_names(first.record, baseline, candidate)
        return side_of(first, base), side_of(first, other)
    if isinstance(first, Trace) and isinstance(second, Trace) and not (baseline or candidate):
        before, after = alike(first, second)
        return side_of_trace(before), side_of_trace(after)
    if isinstance(first, Experiment) and isinstance(second, Experiment):
        shared = [name for name in first.record.names if name in second.record.names]
        usual = next((name for name in PREFERRED if name in shared), shared[0] if shared else None)
        return side_of(first, baseline or usual), side_of(second, candidate or baseline or usual)
    return side_of(first, baseline), side_of(second, candidate)


def chosen_names(
    record: ExperimentRecord, baseline: str | None = None, candidate: str | None = None
) -> tuple[str, str]:
    """The variants of one experiment that are compared; a name that is given may be of none."""
    base = baseline or default_baseline(record)
    other = candidate or default_candidate(record, base)
    is_of_one = len({one.name for one in record.engines}) == 1
    if baseline is None and candidate is None and not record.compared and is_of_one:
        marked = next((one.name for one in record.variants if one.is_marked), base)
        usual = default_candidate(record, marked)  # the one recording of operators before fusion
        base, other = (marked, usual) if usual != marked else (base, other)
    if baseline is None:
        base = same_cut(other, record.names) or base
    return base, other


def default_baseline(record: ExperimentRecord) -> str:
    """The variant that the experiment was recorded against; in a report, its baseline."""
    if len(record.compared) == 2 and record.compared[0] in record.names:
        return record.compared[0]
    name = record.settings.baseline
    return name if name in record.names else record.names[0]


def same_cut(variant: str, among: Container[str]) -> str | None:
    """`segments:<kernel>` for `custom:<kernel>`: what the kernel alone is measured against."""
    kind, _, kernel = variant.partition(":")
    twin = f"segments:{kernel}"
    return twin if kind == "custom" and twin in among else None


def default_candidate(record: ExperimentRecord, baseline: str) -> str:
    """The most optimised variant other than `baseline`, that of another engine where there are
    several; `baseline` itself when it is alone."""
    others = [name for name in record.names if name != baseline]
    if record.compared and record.compared[-1] in others:
        return record.compared[-1]
    for name in others:
        if same_cut(name, (baseline,)):
            return name
    engine = record.engine_of(baseline)
    others.sort(key=lambda name: record.engine_of(name) == engine)  # another engine's first
    for wanted in PREFERRED:
        for name in others:
            if record.own_name(name) == wanted:
                return name
    usual = [name for name in others if record.own_name(name) not in BEFORE_FUSION] or others
    precise = [name for name in usual if not record.variant(name).is_quantised]
    return next(reversed(precise or usual), baseline)


def side_of(value: Trace | Experiment, name: str | None) -> Side:
    if isinstance(value, Experiment):
        if name is None:
            name = default_candidate(value.record, default_baseline(value.record))
        return side_of_variant(value, _named(value, name))
    return side_of_trace(value if name is None else unit(value, name))


def unit(trace: Trace, name: str) -> Trace:
    """The process or device of this name in the file of a trace. Raises FuseScopeError for an
    unknown name, naming the nearest, and where the file holds only one."""
    if not trace.others:
        raise FuseScopeError("profile_has_no_variants", where=trace.meta.file_name)
    if name in trace.units:
        return trace.units[name]
    raise FuseScopeError(
        "no_such_unit",
        where=trace.meta.file_name,
        unit=name[:60],
        known=", ".join(trace.units),
        nearest=nearest(name, list(trace.units)),
    )


def alike(first: Trace, second: Trace) -> tuple[Trace, Trace]:
    """Return the processes or devices of two files that are compared where none is named.

    Those of one name, where one of them is shown of its file and the other does at least half as
    much as the one that is shown of its own; else those shown. The order of the files is the same
    to that.
    """
    pairs = []
    for one, other, is_turned in ((first, second, False), (second, first, True)):
        same = other.units.get(one.meta.variant or "") if holds_several(one) else None
        if same is not None:
            share = int(same.calls["dur_ns"].sum()) / max(1, int(other.calls["dur_ns"].sum()))
            pairs.append((share, (same, one) if is_turned else (one, same)))
    share, pair = max(pairs, key=lambda found: found[0], default=(0.0, (first, second)))
    return pair if share >= _AS_MUCH else (first, second)


def _other(trace: Trace, name: str | None) -> str:
    """The first process or device of a file beside the named one, or beside the one shown."""
    return next(one for one in trace.units if one != (name or trace.meta.variant))


def _named(experiment: Experiment, name: str) -> str:
    names = experiment.record.names
    if name in names:
        return name
    raise FuseScopeError(
        "no_such_variant",
        where=experiment.file_name,
        variant=name[:60],
        known=", ".join(names),
        nearest=nearest(name, names),
    )
