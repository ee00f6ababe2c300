"""How many operators of a type a pattern holds, and how many of that type ran."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from fusescope.analysis.compare.groups.fusion import Group
from fusescope.analysis.compare.ledger.operator_texts import told_operators
from fusescope.analysis.trace import Trace


class OfType(NamedTuple):
    """Distinct operators of one type: in a pattern, and that ran."""

    inside: int
    ran: int


def partly_held(
    groups: Sequence[Group], keys: Sequence[str], traces: tuple[Trace, Trace]
) -> dict[str, OfType]:
    """Return the patterns, by key, that are called after an op type and hold only some of the
    operators of that type, which a table of op types has as one line: on the side with more.

    `keys` are those of the groups' patterns. A pattern whose operators became others is none.
    """
    named: dict[str, str] = {}
    inside: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    executed_types = [_executed_types(trace) for trace in traces]
    for group, key in zip(groups, keys, strict=True):
        if group.kind != "kept" or _is_all(group, executed_types):
            continue
        types = {one.op_type for of in (told_operators(group), group.baseline) for one in of}
        if len(types) == 1:
            named[key] = types.pop()
            inside[key][0] += len(group.baseline)
            inside[key][1] += len(group.candidate)
    found = {}
    for key, op_type in named.items():
        first, second = (of.get(op_type, 0) for of in executed_types)
        side = 0 if first >= second else 1
        if inside[key][side] < max(first, second):
            found[key] = OfType(inside[key][side], max(first, second))
    return found


def _is_all(group: Group, executed_types: Sequence[Counter[str]]) -> bool:
    """Return whether a group holds the only operator of a type that either side ran, as of most
    kernels that have names of their own."""
    if len(group.baseline) != 1 or len(group.candidate) != 1:
        return False
    kind = group.baseline[0].op_type
    is_same = kind == group.candidate[0].op_type != ""
    return is_same and all(of.get(kind) == 1 for of in executed_types)


def _executed_types(trace: Trace) -> Counter[str]:
    """Return how many distinct operators ran, by op type."""
    rows = pd.unique(trace.calls["operator"].to_numpy())
    types = trace.texts("op_type")
    return Counter(types[row] for row in rows.tolist() if types[row])
