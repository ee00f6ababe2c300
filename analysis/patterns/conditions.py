"""Conditions that patterns share: one function each, which yields a Block for what does not hold.

A condition that the graph cannot decide (an unknown value) holds: it accuses nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusescope.analysis.graph import Node
from fusescope.analysis.patterns.pattern import Block, Blocker, Condition, Site

_AXES = range(-64, 64)  # no tensor has more
_TOLERANCE = 1e-5  # relative, as ONNX Runtime compares a constant with what it expects


def single_use(site: Site) -> Iterator[Block]:
    """No other operator reads a tensor inside the pattern, and the model does not return it."""
    own = {id(node) for node in site.nodes.values()}
    *inner, _ = site.nodes.values()
    for node in inner:
        tensor = node.outputs[0]
        other = next((n for n in site.view.consumers(tensor) if id(n) not in own), None)
        if other is not None:
            facts = {
                "consumer": other.op_type,
                "consumer_name": other.name,
                "operator": node.op_type,
            }
            yield Block("extra_consumer", tensor, facts)
        if tensor in site.view.outputs:
            yield Block("graph_output_between", tensor, {"operator": node.op_type})


def constant(*names: str) -> Condition:
    """These inputs are weights whose values nobody can change."""

    def check(site: Site) -> Iterator[Block]:
        for name in names:
            if name in site.found.tensors:
                yield from not_constant(site, site.tensor(name))

    return check


def not_constant(site: Site, tensor: str) -> Iterator[Block]:
    """The Block for a tensor that is not a constant; nothing for one that is."""
    if site.view.is_constant(tensor):
        return
    if site.view.tensor(tensor).overridable:
        yield Block("overridable_weight", tensor)
        return
    producer = site.view.producer(tensor)
    source = producer.op_type if producer else "model input"
    yield Block("non_constant_weight", tensor, {"source": source})


def dtype(of: str, *allowed: str, half_from_all: bool = False) -> Condition:
    """The tensor `of` has one of these dtypes. `half_from_all`: float16 too, at level all, where
    the engine has moved its casts out of the way by then."""

    def check(site: Site) -> Iterator[Block]:
        tensor = site.tensor(of)
        have = dtype_of(site, tensor)
        if have is None or have in allowed:
            return
        if have == "float16" and half_from_all and site.conditions.level == "all":
            return
        yield Block("dtype", tensor, {"dtype": have, "allowed": ", ".join(allowed)})

    return check


def dtype_of(site: Site, tensor: str) -> str | None:
    """The dtype of a tensor; where the graph does not say, that of what its producer reads."""
    known = site.view.tensor(tensor).dtype
    producer = site.view.producer(tensor)
    if known is None and producer is not None and producer.op_type != "Cast" and producer.inputs:
        return site.view.tensor(producer.inputs[0]).dtype
    return known


def number(name: str, expected: float) -> Condition:
    """This input is a constant scalar of that value."""

    def check(site: Site) -> Iterator[Block]:
        if name not in site.found.tensors:
            return
        yield from scalar(name)(site)
        tensor = site.tensor(name)
        values = site.view.values(tensor) or ()
        if any(abs(value - expected) > _TOLERANCE * abs(expected) for value in values):
            facts = {"value": values[0], "expected": round(expected, 7)}
            yield Block("constant_value", tensor, facts)

    return check


def scalar(name: str) -> Condition:
    """This input is a constant with one element and at most one axis."""

    def check(site: Site) -> Iterator[Block]:
        if name not in site.found.tensors:
            return
        tensor = site.tensor(name)
        if not site.view.is_constant(tensor):
            yield from not_constant(site, tensor)
            return
        shape = site.view.tensor(tensor).shape
        if shape not in (None, (), (1,)):
            yield Block("constant_shape", tensor, {"shape": shape_text(shape)})

    return check


def inner_output(step: str, code: Blocker = "graph_output") -> Condition:
    """The model does not return the result of this step."""

    def check(site: Site) -> Iterator[Block]:
        if site.has(step) and site.tensor(step) in site.view.outputs:
            yield Block(code, site.tensor(step), {"operator": site.node(step).op_type})

    return check


def op_types(step: str, *known: str) -> Condition:
    """There is a kernel for this pattern with an operator of one of these types at `step`."""

    def check(site: Site) -> Iterator[Block]:
        if site.has(step) and site.node(step).op_type not in known:
            joined = " + ".join(node.op_type for node in site.nodes.values())
            yield Block("no_kernel", values={"operators": joined, "known": ", ".join(known)})

    return check


def opset_from(version: int, optimizer_does: str) -> Condition:
    """The model's opset is at least that."""

    def check(site: Site) -> Iterator[Block]:
        if site.conditions.opset < version:
            yield Block(
                "opset",
                values={
                    "opset": site.conditions.opset,
                    "needs": version,
                    "does": optimizer_does,
                },
            )

    return check


def never(code: Blocker, **values: str) -> Condition:
    """This form of the pattern is fused by nobody."""

    def check(site: Site) -> Iterator[Block]:
        yield Block(code, values=values)

    return check


def constant_clip_bounds(site: Site, step: str) -> Iterator[Block]:
    """A Clip's bounds are constants or absent."""
    node = site.nodes.get(step)
    if node is not None and node.op_type == "Clip":
        for bound in node.inputs[1:3]:
            if bound:
                yield from not_constant(site, bound)


def rank(site: Site, tensor: str) -> int | None:
    """Number of axes of a tensor, None when unknown."""
    shape = site.view.tensor(tensor).shape
    return None if shape is None else len(shape)


def shape_text(shape: tuple[int, ...] | None) -> str:
    """'1×64×56×56', '?' for a dynamic axis, 'scalar' for none."""
    if shape is None:
        return "unknown"
    return "×".join("?" if d < 0 else str(d) for d in shape) or "scalar"


def reduced_axes(site: Site, node: Node) -> tuple[int, ...] | None:
    """The axes that a ReduceMean reduces, from attribute or input; None when unknown."""
    axes: object = node.attributes.get("axes")
    if axes is None and len(node.inputs) > 1 and node.inputs[1]:
        axes = site.view.values(node.inputs[1])
    if not isinstance(axes, list | tuple) or not all(axis in _AXES for axis in axes):
        return None
    return tuple(int(axis) for axis in axes)
