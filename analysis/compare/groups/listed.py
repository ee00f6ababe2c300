"""Generated kernels of a device beside the operators of eager mode that their names list.

No operator of the framework launched such a kernel: a compiled graph did. Its name lists the types
that went into it, and on the eager side operators of these types launched kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from fusescope.analysis.compare.groups.disjoint import DisjointSets
from fusescope.analysis.operators.classes import is_heavy, op_class, plain_type
from fusescope.analysis.operators.members import inductor, is_function
from fusescope.analysis.trace import Trace

Rows = tuple[list[int], list[int]]

# What eager mode launches for a type that compiled graphs call otherwise.
_SAME = {"to_copy": "copy", "clone": "copy", "convert_element_type": "copy", "relu": "clamp_min"}


class Listed(msgspec.Struct):
    """Names of operators that kernels list together, and the rows of both sides."""

    launchers: list[str] = msgspec.field(default_factory=list)
    rows: Rows = msgspec.field(default_factory=lambda: ([], []))


def listed_together(
    traces: tuple[Trace, Trace], launchers: Sequence[Sequence[str]], left: Rows
) -> list[Listed]:
    """What hangs together by types that kernels of one side list and operators of the other
    launched; nothing where both sides have such kernels, or none.

    Kernels of matrix products and their like are calls of a library in both, so a kernel that lists
    one only goes on from its result.
    """
    generated = [_any_generated(trace) for trace in traces]
    if generated[0] == generated[1]:
        return []
    compiled = 0 if generated[0] else 1
    kinds = _kinds(traces[compiled], left[compiled])
    known = {
        _token(launchers[side][row])
        for side in (1 - compiled,)
        for row in left[side]
        if launchers[side][row]
    }
    together: DisjointSets[str] = DisjointSets()
    lists: dict[int, list[str]] = {}
    for row, types in kinds.items():
        tokens = [token for token in types if token in known]
        if tokens:
            lists[row] = tokens
            together.join_all(tokens)
    wanted = {token for tokens in lists.values() for token in tokens}
    found: dict[str, Listed] = {}
    for side in (0, 1):
        for row in left[side]:
            launcher = launchers[side][row]
            token = _token(launcher) if launcher else ""
            if token in wanted:
                part = found.setdefault(together.find(token), Listed())
                part.rows[side].append(row)
                if launcher not in part.launchers:
                    part.launchers.append(launcher)
    for row, tokens in lists.items():
        found[together.find(tokens[0])].rows[compiled].append(row)
    for part in found.values():
        for rows in part.rows:
            rows.sort()
    return list(found.values())


def _kinds(trace: Trace, rows: Sequence[int]) -> Mapping[int, list[str]]:
    """Row -> the light types that its name lists, for generated kernels of a device."""
    names = trace.texts("name")
    found = {}
    for row in rows:
        members = None if is_function(names[row]) else inductor(names[row])
        types = (
            [kind for kind in members.members if not is_heavy(op_class(kind))] if members else []
        )
        if types:
            found[row] = [_token(kind) for kind in types]
    return found


def _any_generated(trace: Trace) -> bool:
    return any(inductor(name) is not None for name in dict.fromkeys(trace.texts("name")))


def _token(op_type: str) -> str:
    plain = plain_type(op_type)
    return _SAME.get(plain, plain)
