"""Origin: the baseline's operator whose work an operator of the candidate still does.

A fused operator does the work of several; the table of operators sets it beside the one of them
that has its type, or its class where that is a heavy one. The ledger sets it beside all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fusescope.analysis.compare.groups.fusion import Fusion, Operator
from fusescope.analysis.compare.side import Side
from fusescope.analysis.operators.classes import is_heavy, op_class
from fusescope.analysis.text import clean_text


def counterparts(fusion: Fusion, candidate: Side) -> dict[str, str]:
    """Candidate's operator -> baseline's operator of the same group and kind; '' for one whose name
    says nothing of the baseline's of that name.

    Only where a group has one of that kind on either side, so nothing is guessed.
    """
    pairs = dict.fromkeys(_numbered(candidate), "")
    for group in fusion.groups:
        before, after = _by_kind(group.baseline), _by_kind(group.candidate)
        for kind, names in after.items():
            if len(names) == 1 and len(before[kind]) == 1:
                pairs[names[0]] = before[kind][0]
    return pairs


def _numbered(side: Side) -> Iterator[str]:
    """Kernels that torch's compiler counts through, such as 'addmm:2': another variant has another
    kernel of that name."""
    model = side.experiment.model_graph if side.experiment is not None else None
    if side.graph is None or model is None:
        return
    for node in side.graph.nodes:
        if "event" in node.attributes and node.name not in model.node:
            yield clean_text(node.name)


def _by_kind(operators: Iterable[Operator]) -> dict[str, list[str]]:
    """Names by class for heavy operators, by type for others."""
    found: dict[str, list[str]] = defaultdict(list)
    for operator in operators:
        of = op_class(operator.op_type)
        found[of if is_heavy(of) else operator.op_type].append(operator.name)
    return found
