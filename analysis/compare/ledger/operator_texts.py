"""Texts of the operators of a group: their types, the module and the lines that they come from."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from fusescope.analysis.compare.groups.fusion import Group, Operator
from fusescope.analysis.text import clean_text

_SHOWN_PARTS = 6
_SHOWN_CHARS = 120  # of an op type
_PLACE = re.compile(r"(.{1,200}?):(\d{1,9})(?:: .*)?", re.DOTALL)  # 'model.py:9: y = f(x)'


def sequence_text(operators: Sequence[Operator]) -> str:
    """Op types in their order, names of operators without one, repeats as 'Mul ×3'; after six of
    them the number of all, which every language writes so.

    Those of graphs are as foreign as those of traces, so they are made fit to be shown.
    """
    if len(operators) == 1:
        return type_or_name(operators[0])
    parts = []
    types = map(type_or_name, operators)
    for op_type, same in itertools.groupby(types):
        repeats = len(list(same))
        parts.append(op_type if repeats == 1 else f"{op_type} ×{repeats}")
    if len(parts) <= _SHOWN_PARTS:
        return " + ".join(parts)
    return f"{' + '.join(parts[: _SHOWN_PARTS - 1])} + … ({len(operators)})"


def type_or_name(operator: Operator) -> str:
    """The op type of an operator, else its name, fit to be shown; 'unknown' without either."""
    return clean_text(operator.op_type or operator.name, _SHOWN_CHARS) or "unknown"


def told_operators(group: Group) -> Sequence[Operator]:
    """The operators that a group is called after: the original ones; what the baseline ran for them
    where only that has types, as in a file that names the parameters of fused operators."""
    originals = group.original or group.baseline
    for operators in (originals, group.baseline):
        for operator in operators:
            if operator.op_type:
                return operators
    return originals


def common_scope(operators: Iterable[Operator]) -> str:
    """The deepest module that holds all of them: 'layer1/0' of 'layer1/0/a' and 'layer1/0/b', or
    'layer1.0', as torch writes it."""
    scopes = [operator.scope for operator in operators]
    if len(set(scopes)) == 1:
        return scopes[0]
    between = "/" if any("/" in scope for scope in scopes) else "."
    paths = [scope.split(between) for scope in scopes]
    shared = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return between.join(level[0] for level in shared)


def source_text(operators: Iterable[Operator]) -> str:
    """The lines that call them: 'model.py:12, 14-16, blocks.py:3'; '' where no graph says it."""
    lines: dict[str, list[int]] = {}
    for operator in operators:
        found = _PLACE.fullmatch(operator.place) if operator.place else None
        if found is not None:
            lines.setdefault(found[1], []).append(int(found[2]))
    return ", ".join(f"{file}:{_ranges(set(numbers))}" for file, numbers in lines.items())


def _ranges(lines: set[int]) -> str:
    """'12, 14-16'."""
    parts: list[list[int]] = []
    for line in sorted(lines):
        if parts and line == parts[-1][1] + 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)
