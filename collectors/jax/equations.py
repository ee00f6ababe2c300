"""The model as JAX traces it: the equations of its jaxpr, calls of other functions opened, as a
graph, and their values, one equation after the other.

Loops and branches (`scan`, `while`, `cond`) stay one operator each: how often their bodies run is
only known when they do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Attribute, Graph, Node, Tensor
from fusescope.analysis.text import clean_text
from fusescope.collectors.jax import internals
from fusescope.collectors.jax.models import Loaded

_MAX_DEPTH = 32  # of functions that call one another
_MAX_PARAMS = 400  # characters
_MAX_VALUES = 8  # a constant with so few is shown
_CALLS = (
    "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call",
    "custom_vjp_call_jaxpr", "checkpoint", "remat", "remat2", "custom_vmap_call", "composite",
)  # fmt: skip
_OWN = str(Path("collectors", "jax", "equations.py"))
_BODIES = ("jaxpr", "call_jaxpr", "call", "fun_jaxpr")
_LOOPS = ("scan", "while", "cond")


@dataclass(frozen=True)
class Equation:
    """One operator: what it is in the graph, and how it is run. `primitive` and `params` are JAX's;
    `node` has the names of what it reads and writes, '' for what nobody reads."""

    node: Node
    primitive: Any
    params: dict[str, Any]


@dataclass(frozen=True)
class Traced:
    """A model: its graph, its equations in order, and the values of its constants by name."""

    graph: Graph
    equations: tuple[Equation, ...]
    constants: dict[str, Any]

    def run(self, inputs: Sequence[Any]) -> Iterator[tuple[Equation, list[Any]]]:
        """Each equation with what it makes of these inputs, run by itself. A value is forgotten
        when no later equation reads it. Raises whatever JAX raises."""
        values = dict(zip(self.graph.inputs, inputs, strict=True)) | self.constants
        last = {name: place for place, one in enumerate(self.equations) for name in one.node.inputs}
        for place, equation in enumerate(self.equations):
            made = _bound(equation, [values[name] for name in equation.node.inputs])
            yield equation, made
            values.update(zip(equation.node.outputs, made, strict=True))
            for name in {*equation.node.inputs, *equation.node.outputs}:
                if last.get(name, place) <= place:
                    values.pop(name, None)


def trace(loaded: Loaded) -> Traced:
    """The model as the compiler is given it. Raises FuseScopeError for a model that cannot be
    traced, or changes the lists and dictionaries that hold its inputs."""
    changed: list[bool] = []

    def call(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        made = loaded.call(*args)
        after, now = jax.tree.flatten(args)
        changed.append(tree != now or any(a is not b for a, b in zip(leaves, after, strict=True)))
        return made

    try:
        closed = jax.make_jaxpr(call)(*loaded.inputs)
    except Exception as error:  # whatever the model raises, and whatever JAX refuses
        reason = reason_of(error)
        raise FuseScopeError("jax_not_traced", where=loaded.where, reason=reason) from error
    if any(changed):
        raise FuseScopeError("jax_changes_inputs", where=loaded.where)
    reading = _Reading(loaded.file)
    names = [name for name, _ in loaded.leaves()]
    for var, name in zip(closed.jaxpr.invars, names, strict=True):
        reading.tensor(name, var.aval)
    outputs = reading.read(closed.jaxpr, closed.consts, names, _Caller())
    graph = Graph(
        tuple(equation.node for equation in reading.equations),
        tuple(reading.tensors.values()),
        tuple(names),
        tuple(outputs),
    )
    return Traced(graph, tuple(reading.equations), reading.constants)


def reason_of(error: Exception) -> str:
    """The first line of what was raised."""
    first = str(error).strip().partition("\n")[0]
    return clean_text(f"{type(error).__name__}: {first}", 240)


def _bound(equation: Equation, values: Sequence[Any]) -> list[Any]:
    made = internals.bound(equation.primitive, equation.params, values)
    return list(made) if equation.primitive.multiple_results else [made]


@dataclass
class _Reading:
    file: str
    equations: list[Equation] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    _known: dict[str, str] = field(default_factory=dict)  # digest -> name of a constant
    _numbers: dict[str, int] = field(default_factory=dict)

    def tensor(self, name: str, aval: Any) -> str:
        self.tensors[name] = tensor_of(name, aval)
        return name

    def read(
        self, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[str], by: _Caller
    ) -> list[str]:
        """Adds the operators; the names of what is returned."""
        names: dict[Any, str] = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, value in zip(jaxpr.constvars, constants, strict=True):
            names[var] = self._constant(value, var.aval)
        for equation in jaxpr.eqns:
            read = [self._name(var, names) for var in equation.invars]
            scope = _joined(by.scope, equation.source_info.name_stack)
            place = by.line(equation.source_info.traceback, self.file)
            opened = _body(equation) if by.depth < _MAX_DEPTH else None
            if opened is not None:
                inner, consts = opened
                name = str(equation.params.get("name", ""))
                shown = "" if name.startswith(("_", "<")) else name  # JAX's own
                called = _Caller(_joined(scope, shown), place, name, by.depth + 1)
                made = self.read(inner, consts, read, called)
            else:
                made = self._operator(equation, read, scope, place)
            names.update(zip(equation.outvars, made, strict=True))
        return [self._name(var, names) for var in jaxpr.outvars]

    def _operator(self, equation: Any, read: list[str], scope: str, place: str) -> list[str]:
        kind = equation.primitive.name
        number = self._numbers[kind] = self._numbers.get(kind, -1) + 1
        name = f"{kind}_{number}"
        several = len(equation.outvars) > 1
        made = []
        for index, var in enumerate(equation.outvars):
            is_dropped = type(var).__name__ == "DropVar"
            own = f"{name}:{index}" if several else name
            made.append("" if is_dropped else self.tensor(own, var.aval))
        attributes = attributes_of(equation.primitive, equation.params)
        if place:
            attributes["source"] = place
        node = Node(name, kind, tuple(read), tuple(made), attributes=attributes, scope=scope)
        self.equations.append(Equation(node, equation.primitive, equation.params))
        return made

    def _name(self, var: Any, names: dict[Any, str]) -> str:
        return self._constant(var.val, var.aval) if hasattr(var, "val") else names[var]

    def _constant(self, value: Any, aval: Any) -> str:
        """A constant is one tensor, wherever it is read."""
        try:
            array = np.asarray(value, dtype=getattr(aval, "dtype", None))
            digest = digest_of(array)
        except TypeError:  # such as a key of random numbers
            array, digest = None, f"id {id(value)}"
        if digest not in self._known:
            name = self._known[digest] = f"constant_{len(self._known)}"
            self.constants[name] = value
            made = tensor_of(name, aval)
            self.tensors[name] = Tensor(
                name,
                made.dtype,
                made.shape,
                constant=True,
                digest=digest if array is not None else None,
                values=_few(array),
            )
        return self._known[digest]


def _few(array: Any) -> tuple[float, ...] | None:
    """The values, where they are few and fit into JSON."""
    if array is None or array.size > _MAX_VALUES or array.dtype.kind not in "fiub":
        return None
    return tuple(map(float, array.reshape(-1))) if np.isfinite(array).all() else None


def tensor_of(name: str, aval: Any) -> Tensor:
    """A tensor by what JAX knows of it, an array or its abstract value."""
    shape = tuple(int(size) for size in getattr(aval, "shape", ()))
    return Tensor(name, str(getattr(aval, "dtype", "")) or None, shape)


def digest_of(array: Any) -> str:
    """Equal for arrays of equal dtype, shape and values."""
    made = hashlib.sha256(f"{array.dtype}{array.shape}".encode())
    made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()[:32]


def attributes_of(primitive: Any, params: dict[str, Any]) -> dict[str, Attribute]:
    """What tells the operator from others of its kind: everything as text, and what FLOPs follow
    from."""
    found = products_of(primitive, params)
    if primitive.name in _LOOPS:
        found["event"] = primitive.name  # bodies are not compared: no two are known to be equal
        return found
    shown = ", ".join(f"{key}={value}" for key, value in sorted(params.items()))
    text = clean_text(shown)
    found["params" if len(shown) <= _MAX_PARAMS and "0x" not in shown else "event"] = text[
        :_MAX_PARAMS
    ]
    return found


def products_of(primitive: Any, params: dict[str, Any]) -> dict[str, Attribute]:
    """What the FLOPs of a product or a convolution follow from, with its shapes; empty for what is
    neither."""
    if primitive.name == "dot_general":
        (lhs, _), _ = params["dimension_numbers"]
        return {"contracting": [int(axis) for axis in lhs]}
    return _convolution(params) if primitive.name == "conv_general_dilated" else {}


def _convolution(params: dict[str, Any]) -> dict[str, Attribute]:
    """As analysis.operators.flops reads it: axes of batch, channels and space of each tensor."""
    numbers = params["dimension_numbers"]
    pads = params["padding"]
    return {
        "lhs_axes": [int(axis) for axis in numbers.lhs_spec],
        "rhs_axes": [int(axis) for axis in numbers.rhs_spec],
        "out_axes": [int(axis) for axis in numbers.out_spec],
        "strides": [int(step) for step in params["window_strides"]],
        "dilations": [int(step) for step in params["rhs_dilation"]],
        "holes": [int(step) for step in params["lhs_dilation"]],
        "pads": [int(each[end]) for end in (0, 1) for each in pads],
    }


def line_of(traceback: Any, file: str) -> str:
    """The innermost line of that file, else of other code that is not JAX's: 'model.py:12', ''
    for none."""
    frame = _frame(traceback, file)
    return _shown(frame) if frame is not None else ""


def _frame(traceback: Any, file: str) -> Any:
    frames = [one for one in internals.user_frames(traceback) if _OWN not in one.file_name]
    own = [one for one in frames if one.file_name == file] or frames
    return own[0] if own else None


def _shown(frame: Any) -> str:
    return clean_text(f"{Path(frame.file_name).name}:{frame.start_line}")


@dataclass(frozen=True)
class _Caller:
    """What called the function that is read: its scope and line, and the function's name."""

    scope: str = ""
    place: str = ""
    name: str = ""
    depth: int = 0

    def line(self, traceback: Any, file: str) -> str:
        """The line of an operator. JAX traces a function once and keeps the lines of then, so those
        of a function of its own are of whoever called it first: the caller's line stands then."""
        frame = _frame(traceback, file)
        if self.depth and (frame is None or frame.function_name.rpartition(".")[2] != self.name):
            return self.place
        return _shown(frame) if frame is not None else ""


def _body(equation: Any) -> tuple[Any, Sequence[Any]] | None:
    """The function that an equation only calls, and its constants; None for an operator."""
    if equation.primitive.name not in _CALLS:
        return None
    for key in _BODIES:
        inner = equation.params.get(key)
        jaxpr, consts = getattr(inner, "jaxpr", inner), getattr(inner, "consts", ())
        if (
            hasattr(jaxpr, "eqns")
            and len(jaxpr.constvars) == len(consts)
            and _fits(equation, jaxpr)
        ):
            return jaxpr, consts
    return None


def _fits(equation: Any, jaxpr: Any) -> bool:
    """Whether the operator is its body, run once: what goes in and out is the same."""

    def shapes(variables: Sequence[Any]) -> list[tuple[Any, Any]]:
        return [(getattr(v.aval, "shape", ()), getattr(v.aval, "dtype", "")) for v in variables]

    own = shapes(equation.invars), shapes(equation.outvars)
    return bool(own == (shapes(jaxpr.invars), shapes(jaxpr.outvars)))


def _joined(scope: str, more: object) -> str:
    text = clean_text(str(more), 120)
    return f"{scope}/{text}" if scope and text else scope or text
