"""Groups by launcher: kernels of two traces that stand for the same work under other names.

Another GPU, library or compiler runs other kernels for the same operators of the framework. What
launched a kernel says which operator it was for; where even that differs, its class is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from fusescope.analysis.compare.groups.fusion import Fusion, Group, Kind, KnownBy, Operator
from fusescope.analysis.compare.groups.listed import Listed, listed_together
from fusescope.analysis.compare.groups.members import compute_operators, kind_of
from fusescope.analysis.compare.joining.agreement import is_copy, kinds
from fusescope.analysis.compare.joining.pairs import REGIONS
from fusescope.analysis.compare.side import Side
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Trace

Rows = tuple[list[int], list[int]]

_KERNEL = "device_kernel"
_NO_CLASS = ("unknown", "communication")


def join_by_launcher(fusion: Fusion, baseline: Side, candidate: Side) -> Fusion:
    """`fusion` and a group for each launcher, then each class, of kernels in no group so far.

    A launcher that has such kernels takes in the groups that hold only kernels of its own, so its
    group is all that it launched. A class joins the kernels whose launchers the other side lacks.
    What one side alone has stays in no group.
    """
    traces = (baseline.trace, candidate.trace)
    launchers = [_launchers(trace) for trace in traces]
    left = _without_group(traces, fusion.groups)
    if not left[0] or not left[1]:
        return fusion
    together = listed_together(traces, launchers, left)
    listed = [{row for part in together for row in part.rows[side]} for side in (0, 1)]
    others = tuple([row for row in left[side] if row not in listed[side]] for side in (0, 1))
    of_kind = [kinds(trace) for trace in traces]
    found, kept = _launched(launchers, (others[0], others[1]), fusion.groups, of_kind)
    taken = [
        listed[side] | {row for rows in found.values() for row in rows[side]} for side in (0, 1)
    ]
    rest = [[row for row in left[side] if row not in taken[side]] for side in (0, 1)]
    classes = _both_have(_by_value([_kernel_classes(trace) for trace in traces], rest))
    if not found and not classes and not together:
        return fusion
    named = [_Named(trace) for trace in traces]
    groups = [
        *kept,
        *(_listed(named, part) for part in together),
        *(_group(named, name, rows, "launched_by") for name, rows in found.items()),
        *(_group(named, _words(name), rows, "op_class") for name, rows in classes.items()),
    ]
    return _with_groups(fusion, groups, traces)


def _launchers(trace: Trace) -> list[str]:
    """The framework operator behind each kernel; '' where there is none or only a region."""
    names = trace.texts("launched_by")
    return ["" if name.startswith(REGIONS) else name for name in names]


def _kernel_classes(trace: Trace) -> list[str]:
    """The class of each kernel; '' where it says nothing, and for framework operators, copies and
    fills of memory."""
    says = [
        level == _KERNEL and op_class not in _NO_CLASS and not is_copy(kind)
        for op_class, level, kind in zip(
            trace.texts("op_class"), trace.texts("level"), kinds(trace), strict=True
        )
    ]
    return [of if tells else "" for of, tells in zip(trace.texts("op_class"), says, strict=True)]


def _without_group(traces: tuple[Trace, Trace], groups: Iterable[Group]) -> Rows:
    """Rows that ran and are in no group, in order of first execution."""
    grouped = _rows_of(groups)
    first, second = (
        [row for row in compute_operators(trace) if row not in grouped[side]]
        for side, trace in enumerate(traces)
    )
    return first, second


def _rows_of(groups: Iterable[Group]) -> tuple[set[int], set[int]]:
    rows: tuple[set[int], set[int]] = (set(), set())
    for group in groups:
        for side, operators in enumerate((group.baseline, group.candidate)):
            rows[side].update(op.row for op in operators if op.row is not None)
    return rows


def _launched(
    launchers: Sequence[Sequence[str]],
    left: Rows,
    groups: Sequence[Group],
    of_kind: Sequence[Sequence[str]],
) -> tuple[dict[str, Rows], list[Group]]:
    """Rows by launcher where both sides have some of one kind, and the groups that are not taken
    in."""
    found = _by_value(launchers, left)
    for name, group in _whole(launchers, groups):
        if name in found:
            for rows, operators in zip(found[name], (group.baseline, group.candidate), strict=True):
                rows += [op.row for op in operators if op.row is not None]
    found = {name: rows for name, rows in _both_have(found).items() if _of_one_kind(of_kind, rows)}
    taken = {group.id for name, group in _whole(launchers, groups) if name in found}
    return found, [group for group in groups if group.id not in taken]


def _whole(launchers: Sequence[Sequence[str]], groups: Iterable[Group]) -> list[tuple[str, Group]]:
    """The groups whose kernels have one launcher, with it."""
    whole = []
    for group in groups:
        names = {
            launchers[side][op.row] if op.row is not None else ""
            for side, operators in enumerate((group.baseline, group.candidate))
            for op in operators
        }
        if len(names) == 1 and "" not in names:
            whole.append((names.pop(), group))
    return whole


def _by_value(values: Sequence[Sequence[str]], rows: Sequence[Sequence[int]]) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for side, of_side in enumerate(rows):
        for row in of_side:
            if values[side][row]:
                found.setdefault(values[side][row], ([], []))[side].append(row)
    return found


def _both_have(found: Mapping[str, Rows]) -> dict[str, Rows]:
    return {name: (sorted(a), sorted(b)) for name, (a, b) in found.items() if a and b}


def _of_one_kind(of_kind: Sequence[Sequence[str]], rows: Rows) -> bool:
    """Whether both sides have a row of one kind, whichever way copies go: a fill of memory is no
    matrix product."""
    first, second = (
        {of[row].partition(" ")[0] for row in own} for of, own in zip(of_kind, rows, strict=True)
    )
    return bool(first & second)


def _words(op_class: str) -> str:
    return op_class.replace("_", " ")


def _group(named: Sequence[_Named], name: str, rows: Rows, known_by: KnownBy) -> Group:
    before, after = (told(of_side) for told, of_side in zip(named, rows, strict=True))
    return Group(0, _kind(before, after), known_by, (Operator(name, name),), before, after)


def _listed(named: Sequence[_Named], part: Listed) -> Group:
    before, after = (told(rows) for told, rows in zip(named, part.rows, strict=True))
    original = tuple(Operator(name, name) for name in part.launchers)
    return Group(0, kind_of(before, after), "listed", original, before, after)


class _Named:
    """The operators of a side as a group has them."""

    def __init__(self, trace: Trace) -> None:
        self._names, self._types = trace.texts("name"), trace.texts("op_type")

    def __call__(self, rows: Sequence[int]) -> tuple[Operator, ...]:
        return tuple(Operator(self._names[row], self._types[row], row=row) for row in rows)


def _kind(before: Sequence[Operator], after: Sequence[Operator]) -> Kind:
    """Other kernels are not a fusion, even where they are fewer."""
    types = [sorted(op.op_type for op in operators) for operators in (before, after)]
    return "kept" if types[0] == types[1] else "replaced"


def _with_groups(fusion: Fusion, groups: Iterable[Group], traces: tuple[Trace, Trace]) -> Fusion:
    """In order of the baseline; the counts of what is in a group follow."""
    index = {row: at for at, row in enumerate(compute_operators(traces[0]))}
    ordered = sorted(groups, key=lambda group: min(index[op.row or 0] for op in group.baseline))
    numbered = tuple(
        msgspec.structs.replace(group, id=id_) for id_, group in enumerate(ordered, start=1)
    )
    left, _ = _without_group(traces, numbered)
    inferred = sum(group.known_by == "inferred" for group in numbered)
    launched = sum(group.known_by == "launched_by" for group in numbered)
    listed = sum(group.known_by == "listed" for group in numbered)
    by_class = len(numbered) - inferred - launched - listed
    counts: dict[DiagnosticCode, int] = {
        "groups_inferred": inferred,
        "groups_launched": launched,
        "groups_listed": listed,
        "groups_by_class": by_class,
    }
    others = tuple(note for note in fusion.diagnostics if note.code not in counts)
    notes = tuple(Diagnostic("info", code, count) for code, count in counts.items() if count)
    return replace(
        fusion,
        groups=numbered,
        mapped_nodes=fusion.original_nodes - len(left),
        diagnostics=(*others, *notes),
    )
