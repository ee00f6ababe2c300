"""FLOPs of kernels: which of an operator's kernels did the work that its inputs tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from analysis.operators.classes import is_heavy
from analysis.readers.pytorch.aten_flops import Count
from analysis.readers.pytorch.events import Sorted
from analysis.readers.pytorch.inputs import Inputs
from analysis.readers.pytorch.launches import Launch, Launches

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
    found: Sequence[Launch],
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
    sources: dict[int, tuple[int, Count] | None] = {}
    under: dict[int, list[int]] = {}
    counts: dict[int, Count] = {}
    for position, launch in enumerate(found):
        if launch.op is None or events.kernels[position].kind != "kernel":
            continue
        if launch.op not in sources:
            sources[launch.op] = _source(events, launch.op, launches, inputs)
        source = sources[launch.op]
        if source is not None:
            at, counts[at] = source
            under.setdefault(at, []).append(position)
    inside = dict.fromkeys(under, 0)
    for at in under:
        around = launches.parent(at)
        for _ in range(_MAX_PARENTS):
            if around in inside:
                inside[around] += 1
            if around < 0:
                break
            around = launches.parent(around)
    done: dict[int, Count] = {}
    for at, positions in under.items():
        names = {position: events.kernels[position].name for position in positions}
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


def _source(
    events: Sorted, op: int, launches: Launches, inputs: Inputs
) -> tuple[int, Count] | None:
    """The operator itself or the nearest around it whose FLOPs are known, and these.

    `aten::conv2d` carries PyTorch's count, `aten::cudnn_convolution` inside it launches.
    """
    at = op
    for _ in range(_MAX_PARENTS):
        span = events.ops[at]
        count = inputs.flops(span.name, span.args)
        if count is not None:
            return at, count
        at = launches.parent(at)
        if at < 0:
            break
    return None
