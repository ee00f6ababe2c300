"""An ONNX model as a function of JAX, and its tensors as they are when that runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.collectors.jax.translated.backend import JaxBackend
from fusescope.collectors.models.array import Array
from fusescope.collectors.translation import program as programs
from fusescope.collectors.translation.node import Known
from fusescope.collectors.translation.operators import steps
from fusescope.collectors.translation.program import Program
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import SessionSettings

ENGINE = "jax"


@dataclass(frozen=True)
class Ran:
    """A node of the model that was run by itself, as collectors.jax.equations.Equation has it."""

    node: Node


@dataclass(frozen=True, eq=False)
class Network:
    """`fed` are the weights that are fed, as floating-point numbers are; others are part of the
    program."""

    program: Program
    weights: Mapping[str, Array]
    held: Sequence[Array]
    fed: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What is fed: weights, then the model's inputs."""
        return *self.fed, *self.program.inputs

    def __call__(self, weights: Sequence[Any], *inputs: Any) -> tuple[Any, ...]:
        """The model's outputs."""
        values: dict[str, Any] = {}
        for names, made in self._steps(weights, inputs):
            values.update(zip(names, made, strict=False))
        given = dict(zip(self.program.inputs, inputs, strict=True))
        backend = JaxBackend(dict(zip(self.fed, weights, strict=True)))
        found = [(values | given)[name] for name in self.program.outputs]
        return tuple(
            backend.constant(one.name, one.array) if isinstance(one, Known) else one
            for one in found
        )

    def _steps(
        self, weights: Sequence[Any], inputs: Sequence[Any]
    ) -> Iterator[tuple[tuple[str, ...], Sequence[Any]]]:
        backend = JaxBackend(dict(zip(self.fed, weights, strict=True)))
        given = dict(zip(self.program.inputs, inputs, strict=True))
        made = steps(self.program, self.weights, self.held, given, backend, ENGINE)
        for step in self.program.steps:
            with jax.named_scope(step.name):
                yield step.outputs, next(made)

    @property
    def graph(self) -> Graph:
        """The model's, as far as its tensors are followed: weights are constant."""
        nodes = tuple(
            Node(
                step.name,
                step.op_type.lower(),
                tuple(name for name in step.inputs if name),
                tuple(name for name in step.outputs if name),
            )
            for step in self.program.steps
        )
        constants = tuple(Tensor(name, constant=True) for name in self.program.weights)
        return Graph(nodes, constants, self.program.inputs, self.program.outputs)

    def run(self, given: Sequence[Any]) -> Iterator[tuple[Ran, list[Any]]]:
        """Each node with what it makes of these: weights, then inputs."""
        count = len(self.fed)
        for node, (names, made) in zip(
            self.graph.nodes, self._steps(given[:count], given[count:]), strict=True
        ):
            values = [one for name, one in zip(names, made, strict=False) if name]
            yield Ran(node), [one.array if isinstance(one, Known) else one for one in values]


def load(settings: SessionSettings) -> tuple[Network, tuple[Any, ...]]:
    """The program of a recording and what is fed to it."""
    program, weights, held = programs.load(Path(settings.program))
    fed = tuple(name for name, array in weights.items() if array.dtype.kind == "f")
    network = Network(program, weights, held, fed)
    given = load_inputs(settings)
    arrays = tuple(jnp.asarray(weights[name]) for name in fed)
    return network, (arrays, *(jnp.asarray(given[name]) for name in program.inputs))
