"""Trials: every variant alone, before the first block.

What it needs and returns, the graph that the engine makes of it, and which tensors of that graph
hold the values of which tensors of the model. Files go into one folder, by variant.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, Tensor, parse_graph
from fusescope.analysis.messages import language
from fusescope.collectors.openvino.values import folder_of
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers.jobs import (
    Checked,
    CheckJob,
    Matched,
    MatchJob,
    Seen,
    SessionSettings,
)

MATCHING_MEMORY = 1 / 16  # of the memory limit may be tensors that are compared
MATCHING_BYTES = 1 << 30  # more does not help

Run = Callable[..., Any]  # (task, job, answer, seconds=None) -> answer


class Trials:
    """`run` does a task in a worker, `follow` says of a variant which task follows its tensors, and
    what does it; `graph` is the task that finds the graph, '' where that needs no process of its
    own. The baseline has to be checked first: the others compare
    their outputs with its. `model_graph` is the graph of the working copy."""

    def __init__(
        self,
        settings: SessionSettings,
        baseline: str,
        model_graph: Path,
        folder: Path,
        memory_bytes: int,
        run: Run,
        follow: Callable[[str], tuple[str, Run]] | None = None,
        graph: str = "",
    ) -> None:
        self._settings = settings
        self._baseline = baseline
        self._model_file = model_graph
        self._folder = folder
        self._budget_bytes = min(MATCHING_BYTES, int(MATCHING_MEMORY * memory_bytes))
        self._run = run
        self._follow = follow or (lambda variant: ("matches", run))
        self._graph_task = graph
        self._matched: dict[str, Matched] = {}
        self.checked: dict[str, Checked] = {}

    def check(self, variant: str, agreement_seconds: float = 0.0) -> None:
        """Runs the variant alone, for that long on further inputs. Raises FuseScopeError when it
        cannot run."""
        outputs = str(self._folder / "outputs.npz")
        job = CheckJob(
            settings=self._settings,
            variant=variant,
            outputs=outputs,
            reference=None if variant == self._baseline else outputs,
            graph=str(self._graph_file(variant)),
            dump=str(self._dump_file(variant)),
            model_graph=str(self._model_file),
            classes=str(self._folder / "classes.npz"),
            agreement_seconds=agreement_seconds,
            matches=str(self._matches_file(variant)),
            not_fused=str(self._not_fused_file(variant)),
        )
        checked = self._run("check", job, Checked)
        self.checked[variant] = self._with_graph(job, checked) if self._graph_task else checked

    def _with_graph(self, job: CheckJob, checked: Checked) -> Checked:
        seen = self._run(self._graph_task, job, Seen)
        return msgspec.structs.replace(
            checked,
            nodes=seen.nodes,
            graph_problem=seen.problem,
            settings={**checked.settings, **seen.settings},
        )

    def is_optimised(self, variant: str) -> bool:
        """Whether the engine made other operators of the model: else every tensor keeps its
        name."""
        derived = self._settings.derived.get(variant)
        if derived is not None and derived.keeps_tensors:
            return False
        graph = self._graph(variant)
        if graph is None:
            return False
        model = parse_graph(self._model_file.read_bytes(), self._model_file.name)
        original = {(node.op_type, node.domain, node.outputs) for node in model.nodes}
        return any(
            (node.op_type, node.domain, node.outputs) not in original for node in graph.nodes
        )

    def match(self, variant: str, seconds: float) -> None:
        """Follows the tensors. A search that fails is not a failure of the recording."""
        job = MatchJob(
            settings=self._settings,
            variant=variant,
            dump=str(self._dump_file(variant)),
            matches=str(self._matches_file(variant)),
            budget_bytes=self._budget_bytes,
            seconds=seconds,
        )
        task, run = self._follow(variant)
        try:
            self._matched[variant] = run(task, job, Matched, 2 * seconds + 30)
        except FuseScopeError as error:
            self._matches_file(variant).unlink(missing_ok=True)
            with language.speaking(language.ENGLISH):  # as the experiment has it
                self._matched[variant] = Matched(refuted=0, unknown=0, problem=error.what)

    def drop_graph(self, variant: str, reason: str) -> None:
        """Keeps nothing of the variant's graph, which for that `reason` cannot be set beside the
        model's."""
        for file in self.files(variant).values():
            file.unlink()
        checked = self.checked[variant]
        self.checked[variant] = msgspec.structs.replace(checked, nodes=None, graph_problem=reason)

    def drop_dump(self, variant: str) -> None:
        """The engine's graph with all weights, or the values of its tensors, are not needed any
        more."""
        self._dump_file(variant).unlink(missing_ok=True)
        shutil.rmtree(folder_of(str(self._dump_file(variant))), ignore_errors=True)

    def settings(self, variant: str) -> dict[str, str | int | float | bool]:
        """The variant's settings, and what could not be found out."""
        checked, matched = self.checked[variant], self._matched.get(variant)
        settings = dict(checked.settings)
        if checked.graph_problem is not None:
            settings["graph_missing"] = checked.graph_problem
        if checked.agreement_problem is not None:
            settings["agreement_missing"] = checked.agreement_problem
        if matched is not None and matched.problem is not None:
            settings["matches_missing"] = matched.problem
        if matched is not None and matched.refuted:
            settings["tensor_names_refuted"] = matched.refuted
        if matched is not None and matched.unknown:
            settings["tensors_not_identified"] = matched.unknown
        return settings

    def files(self, variant: str) -> dict[str, Path]:
        """`graph`, `matches` and `not_fused`, as far as there are such files."""
        found = {
            "graph": self._graph_file(variant),
            "matches": self._matches_file(variant),
            "not_fused": self._not_fused_file(variant),
        }
        return {kind: file for kind, file in found.items() if file.is_file()}

    def model_graph(self) -> Graph:
        """The model's graph, with shapes that inference did not find taken from what ran."""
        graph = parse_graph(self._model_file.read_bytes(), self._model_file.name)
        ran: dict[str, Tensor] = {}
        for variant in self.checked:
            known = self._graph(variant)
            ran |= {t.name: t for t in (known.tensors if known else ()) if t.bytes is not None}
        tensors = tuple(
            tensor if tensor.bytes is not None else ran.get(tensor.name, tensor)
            for tensor in graph.tensors
        )
        return msgspec.structs.replace(graph, tensors=tensors)

    def _graph(self, variant: str) -> Graph | None:
        is_there = self._graph_file(variant).is_file()  # not of all of jax
        if self.checked[variant].graph_problem is not None or not is_there:
            return None
        return parse_graph(self._graph_file(variant).read_bytes(), variant)

    def _graph_file(self, variant: str) -> Path:
        return self._folder / "graphs" / f"{file_name(variant)}.json"

    def _dump_file(self, variant: str) -> Path:
        return self._graph_file(variant).with_suffix(".onnx")

    def _matches_file(self, variant: str) -> Path:
        return self._folder / "matches" / f"{file_name(variant)}.json"

    def _not_fused_file(self, variant: str) -> Path:
        return self._folder / "not_fused" / f"{file_name(variant)}.json"
