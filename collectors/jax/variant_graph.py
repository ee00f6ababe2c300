"""The graph of one variant, and which of the model's tensors its tensors hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph
from fusescope.collectors.jax import internals
from fusescope.collectors.jax.eager import follow_eager
from fusescope.collectors.jax.equations import trace
from fusescope.collectors.jax.execution import optimised_text
from fusescope.collectors.jax.followed import Followed
from fusescope.collectors.jax.models import Loaded
from fusescope.collectors.jax.module_text import parse_module
from fusescope.collectors.jax.originals import Deadline, Originals
from fusescope.collectors.jax.program import Program
from fusescope.collectors.jax.repeats import recomputed

SECONDS = 120.0  # of one variant, well below what a variant may take alone


@dataclass(frozen=True)
class VariantGraph:
    """`settings` are what else is told of it in the experiment file."""

    graph: Graph
    matches: tuple[TensorMatch, ...]
    settings: dict[str, int | str]


def graph_of(loaded: Loaded, compiled: Any | None, folder: Path) -> VariantGraph:
    """Runs the model, equation by equation, and the variant, operator by operator, on the same
    numbers, moved a little. `compiled` is the variant's program, None for the eager run. Raises
    ValueError for a program that takes other inputs than the model, TimeoutError, and whatever JAX
    raises."""
    deadline = Deadline(SECONDS)
    varied = loaded.varied()
    traced = varied.network or trace(varied)
    leaves = varied.leaves()
    originals = Originals(traced, [leaf for _, leaf in leaves], folder, deadline)
    followed = Followed(traced.graph, originals, deadline, one_each=compiled is None)
    settings: dict[str, int | str] = {}
    if compiled is None:
        outputs = follow_eager(varied, followed)
    else:
        module = parse_module(optimised_text(compiled))
        program = Program(module, followed)
        outputs = program.run(*_passed(compiled, leaves))
        if again := recomputed(module):
            settings["recomputed_operators"] = again
        if program.without_values:
            settings["instructions_without_values"] = program.without_values
            settings["instruction_problem"] = program.problem
            settings["instructions_supposed"] = program.supposed
    graph, matches = followed.result(outputs)
    return VariantGraph(graph, matches, settings)


def _passed(compiled: Any, leaves: Sequence[tuple[str, jax.Array]]) -> tuple[list[str], list[Any]]:
    """Names and values of what the program takes: what it does not need is not passed, and arrays
    that the function holds come first."""
    constants, kept = internals.held_and_kept(compiled)
    held = [(f"%held.{place}", value) for place, value in enumerate(constants)]
    passed = [one for place, one in enumerate((*held, *leaves)) if place in kept]
    return [name for name, _ in passed], [value for _, value in passed]
