"""Which sides are compared when the user names files and, perhaps, variants."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.choice import default_baseline, side_of
from fusescope.analysis.compare.multiple.comparison import check_number
from fusescope.analysis.compare.side import Side
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.trace import Trace

ALL = "all"
_PREFERRED = ("fused", "extended", "basic")


def several_sides(
    files: Sequence[Trace | Experiment | Side],
    variants: Sequence[str] = (),
    baseline: str | None = None,
) -> list[Side]:
    """The sides, the baseline first; one that is given as a side stays as it is.

    Of each experiment those `variants`, or all of them where that is what they say; without names
    all of one experiment, and of several files the most optimised variant that all experiments
    have. The baseline is the named one, else the one that the first experiment was recorded with,
    else the first. Raises FuseScopeError for an unknown variant, and for too few or too many sides.
    """
    experiments = [file for file in files if isinstance(file, Experiment)]
    names = tuple(dict.fromkeys(variants))
    if not names and len(files) > 1:
        names = _shared([experiment.record for experiment in experiments])
    wanted = [(file, name) for file in files for name in _wanted(file, names, len(files))]
    sides = [file if isinstance(file, Side) else side_of(file, name) for file, name in wanted]
    first = files[0]
    if isinstance(first, Experiment):
        own = [side for side in sides if side.experiment is first]
        name = baseline or default_baseline(first.record)
        if baseline is not None and name not in [side.label for side in own]:
            own.insert(0, side_of(first, baseline))
        front = next((side for side in own if side.label == name), own[0])
        sides = [front, *(side for side in sides if side is not front)]
    elif isinstance(first, Trace) and baseline is not None:
        front = side_of(first, baseline)
        sides = [front, *(side for side in sides if side.trace is not front.trace)]
    check_number(len(sides))
    return sides


def _wanted(
    file: Trace | Experiment | Side, names: tuple[str, ...], files: int
) -> Sequence[str | None]:
    """Which of one file: variants; processes or devices where they are named and it is alone."""
    if isinstance(file, Experiment):
        return _named(file.record, names)
    if isinstance(file, Trace) and file.others and names and files == 1:
        return tuple(file.units) if ALL in names else names
    return (None,)


def names_of(record: ExperimentRecord, variants: Sequence[str]) -> tuple[str, ...]:
    """Those variants, or all of the record."""
    return _named(record, tuple(dict.fromkeys(variants)))


def _named(record: ExperimentRecord, names: tuple[str, ...]) -> tuple[str, ...]:
    return names if names and ALL not in names else record.names


def _shared(records: Sequence[ExperimentRecord]) -> tuple[str, ...]:
    """The most optimised variant that all have; of none in common, nothing: each has all then."""
    if not records:
        return ()
    shared = [name for name in records[0].names if all(name in one.names for one in records)]
    return next(((name,) for name in (*_PREFERRED, *shared) if name in shared), ())
