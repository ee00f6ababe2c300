"""Eager operators told apart as the originals that a compiler was given.

A trace of eager mode has no names of nodes, only calls in the order of the program. The graph that
the compiler was given has the same order, so the two are laid beside each other by type. Where the
work was a device's, each of its kernels stands for the operator of the host that it stems from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.compare.side import Side
from fusescope.analysis.operators.members import Members, members_text
from fusescope.analysis.originals import Original
from fusescope.analysis.program import Program
from fusescope.analysis.trace import Diagnostic, Trace

# Below this part of the computing originals the two are not one program.
_MIN_FOUND = 0.9
_MOST = 6000  # on either side: comparing takes the product of both
_ATEN = "aten::"
# Nodes that stand for no operator of eager mode, or for several, and what these are.
_LOOSE = frozenset(("getitem", "getattr", "size", "dim", "shape", "numel", "stride", "sym_size"))
# Calls that eager mode does not even start where there is nothing to do.
_IDLE = frozenset(("contiguous",))
_INDEXING = frozenset(("select", "slice", "unsqueeze", "squeeze", "index", "alias", "permute"))


def with_originals(baseline: Side, candidate: Side) -> tuple[Side, Side, tuple[Diagnostic, ...]]:
    """Both sides, an eager one beside a compiled one told apart by the originals of that, and a
    note where the two are not of one program."""
    sides = [baseline, candidate]
    for plain, compiled, name in ((0, 1, "baseline"), (1, 0, "candidate")):
        trace, originals = sides[plain].trace, sides[compiled].trace.originals
        if not originals or not _is_eager(trace):
            continue
        told = _told_apart(trace, originals)
        if told is None:
            note = Diagnostic("warning", "originals_unmatched", len(originals), values={"on": name})
            return baseline, candidate, (note,)
        sides[plain] = dataclasses.replace(sides[plain], trace=told)
    return sides[0], sides[1], ()


def _is_eager(trace: Trace) -> bool:
    """Operators of the host, whose calls have their start, none of a compiled graph, or kernels of
    which the file tells what launched them."""
    calls = trace.calls
    if trace.originals or not len(calls):
        return False
    if trace.program is not None:
        return True
    on_host = (trace.operators["level"] == "framework_op").all()
    single = calls["start_ns"].notna().all() and (calls["n"] == 1).all()
    return bool(on_host and single)


def _told_apart(trace: Trace, originals: Sequence[Original]) -> Trace | None:
    """The trace with an operator for each original; None where too few are found in it."""
    ran = _of_host(trace) if trace.program is None else _of_device(trace, trace.program)
    known: dict[tuple[str, ...], list[str] | None] = {}
    texts = np.full(len(ran.kinds) + 1, "", dtype=object)  # the last one is of no operator
    for run in pd.unique(ran.runs):
        places = np.flatnonzero(ran.runs == run)
        kinds = tuple(ran.kinds[places])
        if kinds not in known:
            known[kinds] = _laid_beside(kinds, originals)
        found = known[kinds]
        if found is not None:
            texts[places] = np.array(found, dtype=object)
    if not any(known.values()):
        return None
    ops = trace.calls["operator"].to_numpy()
    return _split(trace, ops, texts[ran.of_call], tuple(originals))


class _Ran(msgspec.Struct, frozen=True):
    """Operators that no other is around, in order: their kinds and runs, and for each call of the
    trace the place of the one that it is of, -1 for none."""

    kinds: np.ndarray
    runs: np.ndarray
    of_call: np.ndarray


def _of_host(trace: Trace) -> _Ran:
    names = np.array([_kind(name) for name in trace.texts("name")], dtype=object)
    ops = trace.calls["operator"].to_numpy()
    runs = trace.calls["run"].fillna(-1).to_numpy("int64")
    tops, of_call = np.unique(_roots(trace), return_inverse=True)
    return _Ran(names[ops[tops]], runs[tops], of_call)


def _of_device(trace: Trace, program: Program) -> _Ran:
    names = np.array([_kind(name) for name in program.names], dtype=object)
    rows = trace.calls["source_row"].fillna(-1).to_numpy("int64")
    return _Ran(names[program.name_of], program.runs, program.of(rows))


def _roots(trace: Trace) -> np.ndarray:
    """For each call the place of the outermost one around it, or its own."""
    calls = trace.calls
    starts = calls["start_ns"].to_numpy("int64")
    ends = starts + calls["span_ns"].fillna(calls["dur_ns"]).to_numpy("int64")
    lanes = calls["stream"].cat.codes.to_numpy()
    order = np.lexsort((-ends, starts))
    open_at: dict[int, tuple[int, int]] = {}
    roots = np.arange(len(calls))
    for at in order:
        lane, start = int(lanes[at]), int(starts[at])
        top = open_at.get(lane)
        if top is not None and start < top[1]:
            roots[at] = top[0]
        else:
            open_at[lane] = (int(at), int(ends[at]))
    return roots


def _kind(name: str) -> str:
    """'aten::relu_' -> 'relu'; '' for what is not an operator of the framework."""
    return name.removeprefix(_ATEN).rstrip("_") if name.startswith(_ATEN) else ""


def _laid_beside(kinds: Sequence[str], originals: Sequence[Original]) -> list[str] | None:
    """For each operator of a run the originals that it stands for, as members are written, '' for
    none; None where the two are not one program.

    What stands between two that are found on both sides is one piece.
    """
    strict = [at for at, one in enumerate(originals) if one.op_type not in _LOOSE]
    wanted = {originals[at].op_type for at in strict}
    ran = [at for at, kind in enumerate(kinds) if kind in wanted]
    if not ran or max(len(ran), len(strict)) > _MOST:
        return None
    pairs = list(
        _pairs([kinds[at] for at in ran], [originals[at].op_type for at in strict], ran, strict)
    )
    found = {node for _, node in pairs}
    computing = [
        at
        for at in strict
        if originals[at].computes and (at in found or originals[at].op_type not in _IDLE)
    ]
    if sum(at in found for at in computing) < _MIN_FOUND * max(1, len(computing)):
        return None
    texts = [""] * len(kinds)
    before = (-1, -1)
    for here in (*pairs, (len(kinds), len(originals))):
        between = range(before[0] + 1, here[0])
        nodes = originals[before[1] + 1 : here[1]]
        is_edge = before[0] < 0 or here[0] == len(kinds)
        if nodes:
            text = _text(nodes)
            for at in between:
                if not is_edge or kinds[at] in _INDEXING:
                    texts[at] = text
        if here[0] < len(kinds):
            texts[here[0]] = _text([originals[here[1]]])
        before = here
    return texts


def _pairs(
    ran: Sequence[str], given: Sequence[str], ran_at: Sequence[int], given_at: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Places of what is the same in the same order on both sides."""
    for block in SequenceMatcher(None, ran, given, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            yield ran_at[block.a + offset], given_at[block.b + offset]


def _text(nodes: Sequence[Original]) -> str:
    return members_text(Members(tuple(node.name for node in nodes)))


def _split(
    trace: Trace, ops: np.ndarray, texts: np.ndarray, originals: tuple[Original, ...]
) -> Trace:
    """The trace with an operator for each of its operators and texts, in order of first call."""
    codes, distinct = pd.factorize(pd.MultiIndex.from_arrays([ops, texts]))
    called = [int(operator) for operator, _ in distinct]
    idle = [at for at in range(len(trace.operators)) if at not in set(called)]
    table = trace.operators.iloc[[*called, *idle]].reset_index(drop=True)
    told = [text or None for _, text in distinct] + [None] * len(idle)
    kept = table["members"].astype("object").where(pd.isna(pd.Series(told)), told)
    sources = table["members_source"].astype("object").where(pd.isna(pd.Series(told)), "names")
    table = table.assign(
        operator=np.arange(len(table)),
        members=kept.astype("category"),
        members_source=sources.astype("category"),
    )
    calls = trace.calls.assign(operator=codes.astype("int64"))
    return dataclasses.replace(trace, operators=table, calls=calls, originals=originals)
