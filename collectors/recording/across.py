"""One model in several environments of its engine: the same in each, or what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, parse_graph
from fusescope.analysis.messages import Message, language
from fusescope.collectors.workers.addressing import engine_of, named
from fusescope.collectors.workers.jobs import Prepared, PrepareJob
from fusescope.collectors.workers.pool import WorkerPool

_OTHER_OPERATORS = Message(
    "{environment:name} has the model in other operators than {first:name}: {example:name}"
)


@dataclass(frozen=True)
class Across:
    """The model as the first environment has it, and why graphs of the others cannot be set beside
    its: by environment, of those alone that have it in other operators. `lacking` has the variants
    that a release cannot compile, and what it lacks."""

    model: Prepared
    lacking: Mapping[str, str] = field(default_factory=dict)
    apart: Mapping[str, str] = field(default_factory=dict)

    def why_no_graph(self, variant: str) -> str | None:
        """Return why the graph of that variant is not kept, in English; None where it is."""
        return self.apart.get(engine_of(variant))


def prepared(job: PrepareJob, environments: Mapping[str, WorkerPool]) -> Across:
    """Prepares the model in each. Names of tensors mean the same in two of them only where both
    have the same operators in the same order. Raises FuseScopeError where the weights or the inputs
    are not the same."""
    first, *others = environments
    made = {name: _prepared(job, name, pool) for name, pool in environments.items()}
    model = _graph(made[first])
    apart: dict[str, str] = {}
    for name in others:
        if made[name].sha256 != made[first].sha256:
            raise FuseScopeError("model_drawn_apart", first=first, other=name)
        if (example := _difference(model, _graph(made[name]))) is not None:
            with language.speaking(language.ENGLISH):  # as the experiment has it
                apart[name] = str(
                    _OTHER_OPERATORS.of(environment=name, first=first, example=example)
                )
    lacking = {
        named(name, variant): place
        for name, one in made.items()
        for variant, place in one.lacking.items()
    }
    return Across(made[first], lacking, apart)


def _prepared(job: PrepareJob, name: str, pool: WorkerPool) -> Prepared:
    folder = Path(job.folder) / "prepared" / name
    folder.mkdir(parents=True)
    return pool.run("prepare", msgspec.structs.replace(job, folder=str(folder)), Prepared)


def _graph(of: Prepared) -> Graph:
    return parse_graph(Path(of.graph).read_bytes(), "graph.json")


def _difference(one: Graph, other: Graph) -> str | None:
    """Return the first node that differs, None where all are the same."""
    pairs = [[(n.name, n.op_type, n.inputs, n.outputs) for n in of.nodes] for of in (one, other)]
    for before, after in zip(*pairs, strict=False):
        if before != after:
            return f"{before[0]}, {after[0]}"
    if len(pairs[0]) == len(pairs[1]):
        return None
    longer = max(pairs, key=len)
    return longer[min(map(len, pairs))][0]
