"""Agreement: whether two operators can be the same one, by their kind and their shapes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from fusescope.analysis.metrics.memo import once
from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.operators.flops import Shape, parse_shapes
from fusescope.analysis.operators.kernel_names import kernel_type, memory_type
from fusescope.analysis.operators.members import inductor
from fusescope.analysis.trace import Trace

# A pair whose times are further apart is looked at again.
BEYOND = 3.0


@once
def kinds(trace: Trace) -> list[str]:
    """The kind of each operator: 'communication', the type of a copy or fill of memory, such as
    'Memcpy HtoD' or 'Memset', else 'computes'."""
    talks = trace.operators["is_communication"].tolist()
    by_name, by_type = (trace.each(column, memory_type) for column in ("name", "op_type"))
    return [
        "communication" if is_talking else named or typed or "computes"
        for is_talking, named, typed in zip(talks, by_name, by_type, strict=True)
    ]


def is_copy(kind: str) -> bool:
    """Whether a kind is that of a copy or fill of memory."""
    return kind not in ("computes", "communication")


def lasting_name(name: str) -> str:
    """The name without what another compilation numbers anew: generated kernels are counted
    through, so that one more moves all numbers after it."""
    return name if inductor(name) is None else kernel_type(name)


@lru_cache(maxsize=65536)
def sizes(tensors: str) -> str:
    """The shapes of tensors as text, without types and layouts: '[1,3]; []'."""
    return "; ".join(f"[{','.join(map(str, shape))}]" for shape in parse_shapes(tensors))


def factor(before: str, after: str) -> float | None:
    """The one factor between all sizes that differ, as of another batch: 1 where none differ, None
    where ranks or the number of tensors differ, or there is more than one factor."""
    first, second = parse_shapes(before), parse_shapes(after)
    if [len(shape) for shape in first] != [len(shape) for shape in second] or not first:
        return None
    found = {
        new / old if old else math.inf
        for one, other in zip(first, second, strict=True)
        for old, new in zip(one, other, strict=True)
        if old != new
    }
    return None if len(found) > 1 else found.pop() if found else 1.0


@lru_cache(maxsize=65536)
def has_more_inputs(before: str, after: str) -> bool:
    """Return whether one of two operators has all inputs of the other one in their order, two at
    least, and more behind them: a bias, a sum that fusion moved into it, the tensor that it writes
    into."""
    shorter, longer = sorted(map(parse_shapes, (before, after)), key=len)
    return 2 <= len(shorter) < len(longer) and longer[: len(shorter)] == shorter


def without_out_tensors(own: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the input tensors of one side's operators, those that have one tensor more at their
    end than those of the other side as these: compiled code hands PyTorch's operators the tensor
    that they write into, and folding may give a product a bias. None changes that the other side
    has as it is, whose shorter form its own side has, too, or beside another one that would become
    the same."""
    own_texts, other_texts = set(own), set(others)
    shorter = {text: text.rpartition("; ")[0] for text in own_texts - other_texts}
    becomes = {
        text: short
        for text, short in shorter.items()
        if short in other_texts and short not in own_texts
    }
    sources = Counter(becomes.values())
    return [
        becomes[text] if text in becomes and sources[becomes[text]] == 1 else text for text in own
    ]


@lru_cache(maxsize=65536)
def shapes_contradict(before: str, after: str, op_class: str) -> bool:
    """Whether the input shapes of two operators of one name say that they are two operators.

    They do not where one has none, where layouts differ, as sizes are then those of other
    dimensions, where all sizes differ by one factor, and where a tensor of more than one value has
    the same sizes in any order; of a heavy operator that is its second one, the weights.
    """
    first, second = parse_shapes(before), parse_shapes(after)
    if not first or not second or _layouts(before) != _layouts(after):
        return False
    if factor(before, after) is not None:
        return False
    if is_heavy(op_class) and len(first) > 1 and len(second) > 1:
        return not (
            _sorted(first[1]) in map(_sorted, second) or _sorted(second[1]) in map(_sorted, first)
        )
    return not ({*_values(first)} & {*_values(second)})


def _layouts(tensors: str) -> set[str]:
    return {of.rpartition("]")[2] for of in tensors.split("; ")}


def _sorted(shape: Shape) -> tuple[int, ...]:
    return tuple(sorted(shape))


def _values(shapes: Sequence[Shape]) -> list[tuple[int, ...]]:
    return [_sorted(shape) for shape in shapes if math.prod(shape) > 1]


def classes_agree(before: pd.Series, after: pd.Series) -> np.ndarray:
    """For each pair whether the classes are the same, or one of them is not known."""
    first, second = (of.astype(object).fillna("unknown").to_numpy() for of in (before, after))
    agree: np.ndarray = (first == second) | (first == "unknown") | (second == "unknown")
    return agree


def is_beyond(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """For each pair whether one time is more than BEYOND times the other."""
    apart: np.ndarray = np.maximum(before, after) > BEYOND * np.minimum(before, after)
    return apart
