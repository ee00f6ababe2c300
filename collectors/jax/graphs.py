"""The model's graph: the operators of its jaxpr, calls of other functions opened."""

from __future__ import annotations

from typing import Any

import jax

from analysis.graph import Graph, Node, Tensor
from collectors.jax.models import Loaded

_CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call")


def model_graph(loaded: Loaded) -> Graph:
    """What the compiler is given. Raises whatever the model raises."""
    closed = jax.make_jaxpr(loaded.call)(*loaded.inputs)
    made = _Reading()
    names = [name for name, _ in loaded.leaves()]
    values: dict[Any, str] = {}
    for var, name in zip(closed.jaxpr.invars, names, strict=True):
        values[var] = made.tensor(name, var.aval)
    outputs = made.read(closed, values)
    return Graph(tuple(made.nodes), tuple(made.tensors.values()), tuple(names), tuple(outputs))


class _Reading:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.tensors: dict[str, Tensor] = {}

    def tensor(self, name: str, aval: Any, constant: bool = False) -> str:
        shape = tuple(int(size) for size in getattr(aval, "shape", ()))
        self.tensors[name] = Tensor(name, str(getattr(aval, "dtype", "")), shape, constant)
        return name

    def read(self, closed: Any, values: dict[Any, str], depth: int = 0) -> list[str]:
        """Adds the operators; the names of what is returned."""
        for var in closed.jaxpr.constvars:
            values[var] = self.tensor(f"constant_{len(self.tensors)}", var.aval, constant=True)
        for equation in closed.jaxpr.eqns:
            kind = equation.primitive.name
            inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
            inputs = [self._value(var, values) for var in equation.invars]
            if kind in _CALLS and hasattr(inner, "jaxpr") and depth < 32:
                known = dict(zip(inner.jaxpr.invars, inputs, strict=True))
                outputs = self.read(inner, known, depth + 1)
                values.update(zip(equation.outvars, outputs, strict=True))
                continue
            name = f"{kind}_{len(self.nodes)}"
            outputs = []
            for index, var in enumerate(equation.outvars):
                values[var] = self.tensor(f"{name}:{index}", var.aval)
                outputs.append(values[var])
            self.nodes.append(Node(name, kind, tuple(inputs), tuple(outputs)))
        return [self._value(var, values) for var in closed.jaxpr.outvars]

    def _value(self, var: Any, values: dict[Any, str]) -> str:
        if not hasattr(var, "val"):
            return values[var]
        return self.tensor(f"constant_{len(self.tensors)}", var.aval, constant=True)
