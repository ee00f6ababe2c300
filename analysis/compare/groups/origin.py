"""Origin: the baseline's operator whose work an operator of the candidate still does.

A fused operator does the work of several; the table of operators sets it beside the one of them
that has its type, or its class where that is a heavy one. The ledger sets it beside all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from analysis.compare.groups.fusion import Fusion, Operator
from analysis.operators.classes import is_heavy, op_class


def counterparts(fusion: Fusion) -> dict[str, str]:
    """Candidate's operator -> baseline's operator of the same group and kind.

    Only where a group has one of that kind on either side, so nothing is guessed.
    """
    pairs: dict[str, str] = {}
    for group in fusion.groups:
        before, after = _by_kind(group.baseline), _by_kind(group.candidate)
        for kind, names in after.items():
            if len(names) == 1 and len(before[kind]) == 1:
                pairs[names[0]] = before[kind][0]
    return pairs


def _by_kind(operators: Iterable[Operator]) -> dict[str, list[str]]:
    """Names by class for heavy operators, by type for others."""
    found: dict[str, list[str]] = defaultdict(list)
    for operator in operators:
        of = op_class(operator.op_type)
        found[of if is_heavy(of) else operator.op_type].append(operator.name)
    return found
