"""FLOPs of the products and convolutions in an instruction, by analysis.operators.flops."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fusescope.analysis.graph import Attribute, Graph, Node, Tensor
from fusescope.analysis.operators import flops
from fusescope.collectors.jax.module_text import Computation, Instruction

_WINDOW = re.compile(r"(\w+)=([\d_x\-]+)")


def flops_of(inner: Sequence[tuple[Computation, Instruction]]) -> int | None:
    """Of all products together, each by its own shapes; None where there is none, or one whose
    shapes are not known."""
    counts = [_count(own, one) for own, one in inner if one.opcode in ("dot", "convolution")]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def _count(own: Computation, one: Instruction) -> int | None:
    operands = [own.instructions[name].shapes for name in one.operands if name in own.instructions]
    if len(operands) != 2 or any(len(shapes) != 1 for shapes in (*operands, one.shapes)):
        return None
    attributes: dict[str, Attribute] = {}
    if one.opcode == "dot":
        attributes["contracting"] = list(one.numbers("lhs_contracting_dims"))
    else:
        attributes |= _convolution(one)
    names = ("lhs", "rhs", "out")
    shapes = (*(shapes[0] for shapes in operands), one.shapes[0])
    tensors = tuple(
        Tensor(name, None, shape.sizes) for name, shape in zip(names, shapes, strict=True)
    )
    kind = "dot_general" if one.opcode == "dot" else "conv_general_dilated"
    node = Node(one.name, kind, names[:2], names[2:], attributes=attributes)
    return flops.from_graph(node, Graph((node,), tensors, names[:2], names[2:]))


def _convolution(one: Instruction) -> dict[str, Attribute]:
    """'b01f_01io->b01f' and 'size=3x3 pad=1_1x1_1' as analysis.operators.flops reads them."""
    lhs, _, rest = one.attribute("dim_labels").partition("_")
    rhs, _, out = rest.partition("->")
    window = dict(_WINDOW.findall(one.attribute("window")))
    rank = max(0, len(lhs) - 2)

    def axes(labels: str, first: str, second: str) -> list[int | float | str]:
        return [labels.index(each) for each in (first, second, *map(str, range(rank)))]

    def steps(name: str) -> list[int | float | str]:
        return [int(each) for each in window.get(name, "x".join(["1"] * rank)).split("x") if each]

    told = window.get("pad", "x".join(["0_0"] * rank)).split("x")
    pads = [each.split("_") for each in told if each]
    return {
        "lhs_axes": axes(lhs, "b", "f"),
        "rhs_axes": axes(rhs, "o", "i"),
        "out_axes": axes(out, "b", "f"),
        "strides": steps("stride"),
        "dilations": steps("rhs_dilate"),
        "holes": steps("lhs_dilate"),
        "pads": [int(each[end]) for end in (0, 1) for each in pads],
    }
