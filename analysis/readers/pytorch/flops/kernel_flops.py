"""FLOPs of kernels: which of an operator's kernels did the work that its inputs tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.readers.building.coded import Coded, distinct_rows
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.flops.aten_flops import Count
from fusescope.analysis.readers.pytorch.inputs import Inputs
from fusescope.analysis.readers.pytorch.launches import Launched, Launches
from fusescope.analysis.readers.pytorch.spans import KINDS, NONE, Spans

# Heavy by their class, but helpers of the kernel that multiplies: offsets and transforms before it,
# sums of split products and conversions after it.
_HELPER = re.compile(
    r"splitk_?reduce|reduce_?1block|post_?gsu|offsetskernel|precompute_?indices|flip_?filter"
    r"|generatewinogradtiles|winograd\w{0,40}(?:data|filter|output|delta)\dx\d|winograd_?xform"
    r"|xform_(?:data|filter|out)|fft2d_[rc]2[rc]|combine|preprocess|postprocess|dot_?do_?o"
    r"|ograddoto|convert_?(?:dq|q_?grad)"
)
_SIDES = (
    ("input", re.compile(r"dgrad|bwd_?data|backward_?data|igemm_bwd|conv_bwd_d|grad_?input")),
    ("weight", re.compile(r"wgrad|wrw|bwd_?weight|backward_?(?:weight|filter)|grad_?weight")),
)
_GRADIENTS = 2
_MAX_CHARS = 512
_MAX_PARENTS = 8


def kernel_flops(
    events: Sorted,
    found: Launched,
    launches: Launches,
    inputs: Inputs,
    class_of: Mapping[str, str],
) -> dict[int, Count]:
    """FLOPs of kernels that do the whole work of an operator, or of one of its parts.

    FLOPs belong to the innermost operator around a launch that has them. Of the kernels that it, or
    an operator inside it, launched, those count that are heavy by their name and no helpers of
    others, or, where none is, those whose name tells no class. They must be as many as the operator
    has parts (one; a convolution's gradients may be two, which are equal), with operators inside it
    that have FLOPs of their own; else all of them have none.
    """
    counts_of = _Counts(events.ops, inputs)
    sources: dict[int, tuple[int, Count] | None] = {}
    under: dict[int, list[int]] = {}
    counts: dict[int, Count] = {}
    is_kernel = events.kernels.kinds == KINDS.index("kernel")
    launched = np.flatnonzero(is_kernel & (found.ops != NONE))
    for position, op in zip(launched.tolist(), found.ops[launched].tolist(), strict=True):
        if op not in sources:
            sources[op] = _source(op, launches, counts_of)
        source = sources[op]
        if source is not None:
            at, counts[at] = source
            under.setdefault(at, []).append(position)
    inside = dict.fromkeys(under, 0)
    for at in under:
        around = launches.parents[at]
        for _ in range(_MAX_PARENTS):
            if around in inside:
                inside[around] += 1
            if around < 0:
                break
            around = launches.parents[around]
    name_of, of_kernel = events.tables.names, events.kernels.names
    done: dict[int, Count] = {}
    for at, positions in under.items():
        names = {position: name_of[of_kernel[position]] for position in positions}
        working = [p for p, name in names.items() if is_heavy(class_of[name])]
        working = [p for p in working if not _is_helper(names[p])] or [
            p for p, name in names.items() if class_of[name] == "unknown"
        ]
        if _are_parts([names[p] for p in working], inside[at], counts[at].parts):
            done.update(dict.fromkeys(working, counts[at]))
    return done


def _is_helper(name: str) -> bool:
    """Whether a heavy kernel only prepares or completes another one's work."""
    lower = name[:_MAX_CHARS].lower()
    # Tensile's products carry their tile in the name; others of it set or add up the output.
    return bool(_HELPER.search(lower)) or (lower.startswith("cijk_") and "_mt" not in lower)


def _are_parts(names: Sequence[str], inside: int, parts: int | None) -> bool:
    """Whether these kernels are the parts that operators inside have left.

    Two of one operator are its two gradients unless their names say otherwise; where nothing tells
    how many were wanted, the names must say so.
    """
    if not names or len(names) + inside > (parts or _GRADIENTS):
        return False
    if parts is not None and len(names) + inside < parts:
        return False
    if len(names) < _GRADIENTS:
        return True
    sides = [_side(name) for name in names]
    if parts is None:
        return set(sides) == {"input", "weight"}
    return None in sides or len(set(sides)) == len(sides)


def _side(name: str) -> str | None:
    """Which gradient of a convolution a kernel computes."""
    lower = name[:_MAX_CHARS].lower()
    found = [side for side, pattern in _SIDES if pattern.search(lower)]
    return found[0] if len(found) == 1 else None


class _Counts:
    """FLOPs of operators: those of one name with the same inputs have the same."""

    def __init__(self, ops: Spans, inputs: Inputs) -> None:
        self._ops, self._inputs = ops, inputs
        flops = ops.more["flops"]
        told = [
            ops.names,
            ops.more["inputs"],
            Coded.of(np.nan_to_num(flops, nan=-1).tolist()).codes,
        ]
        counts = [len(ops.tables.names), len(ops.tables.inputs), len(ops)]
        numbers, self._first = distinct_rows(told, counts, len(ops))
        self._numbers: list[int] = numbers.tolist()
        self._known: dict[int, Count | None] = {}

    def __getitem__(self, op: int) -> Count | None:
        number = self._numbers[op]
        if number not in self._known:
            span = self._ops[int(self._first[number])]
            self._known[number] = self._inputs.flops(span.name, span.args)
        return self._known[number]


def _source(op: int, launches: Launches, counts: _Counts) -> tuple[int, Count] | None:
    """The operator itself or the nearest around it whose FLOPs are known, and these.

    `aten::conv2d` carries PyTorch's count, `aten::cudnn_convolution` inside it launches.
    """
    at = op
    for _ in range(_MAX_PARENTS):
        count = counts[at]
        if count is not None:
            return at, count
        at = launches.parents[at]
        if at < 0:
            break
    return None
