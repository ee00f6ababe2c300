"""Fusing one model: pass, verification of every group and of the whole, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import onnx
import onnxruntime as ort

from fusescope.analysis.graph import Graph
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.fusion import passes, scopes, survey
from fusescope.collectors.fusion.passes import Fused, Reason
from fusescope.collectors.fusion.report import Report
from fusescope.collectors.fusion.rules import Rules
from fusescope.collectors.fusion.sparse import dense
from fusescope.collectors.fusion.verification import TOLERANCE, EngineRefused, Verification
from fusescope.collectors.fusion.working import Origin, Step
from fusescope.collectors.models import graphs
from fusescope.collectors.models.array import Array
from fusescope.collectors.models.model import save
from fusescope.collectors.runtimes.onnxruntime import GraphSession, profiled_run
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.workers.jobs import SessionSettings

_NO_RULES = Rules()


@dataclass(frozen=True)
class Result:
    """The rewritten model lies at `path`."""

    model: onnx.ModelProto
    path: Path
    report: Report


def fuse(
    model: onnx.ModelProto, settings: SessionSettings, rules: Rules, folder: Path, *, seed: int
) -> Result:
    """Writes the rewritten working copy into the folder. Raises FuseScopeError for a module that
    the model does not have, and what the engine raises where the model itself does not run."""
    names = [node.name for node in model.graph.node]
    for key, globs in (("include", rules.include), ("exclude", rules.exclude)):
        scopes.check(key, globs, names)
    reference = outputs_of(settings)
    model = dense(model)
    graph = _with_shapes(model, settings, folder)
    fusing = _Fusing(model, graph, settings, rules, reference, folder / "model.onnx", seed)
    fused, difference = fusing.run()
    free = not rules.restricts and not fusing.bans
    ideal = fused if free else passes.apply(model, graph, _NO_RULES, {})
    rows = survey.opportunities(graph, ideal, fused, fusing.differences)
    report = Report(
        level=rules.level,
        rules=rules.text,
        nodes_before=len(names),
        nodes_after=len(fused.working.nodes),
        opportunities=rows,
        asked=survey.asked(rules, fused, rows),
        difference=difference,
        tolerance=TOLERANCE,
        seed=seed,
        engine_version=ort.__version__,
        optimization=rules.optimization,
    )
    return Result(fusing.rewritten, fusing.path, report)


class _Fusing:
    """`bans` grows with what the verification takes back; `differences` by the steps that made a
    group, since another route to the same members is another rewrite."""

    def __init__(
        self,
        model: onnx.ModelProto,
        graph: Graph,
        settings: SessionSettings,
        rules: Rules,
        reference: Sequence[Array | None],
        path: Path,
        seed: int,
    ) -> None:
        self._model = model
        self._graph = graph
        self._settings = settings
        self._rules = rules
        self._reference = list(reference)
        self._verification = Verification(model, graph, seed)
        self.path = path
        self.bans: dict[Step, Reason] = {}
        self.differences: dict[tuple[Step, ...], float | None] = {}
        self.rewritten = model

    def run(self) -> tuple[Fused, float | None]:
        """The pass, again until every group and the whole model hold. What fails is not tried
        again, so this ends."""
        while True:
            fused = passes.apply(self._model, self._graph, self._rules, self.bans)
            groups = fused.working.groups()
            failed = {
                origin.steps[-1]: reason
                for name, origin in groups.items()
                if (reason := self._problem(fused, name, origin)) is not None
            }
            if failed:
                self.bans |= failed
                continue
            self.rewritten = fused.working.model()
            save(self.rewritten, self.path)
            difference, problem = self._whole()
            if problem is None or not groups:
                return fused, difference
            self.bans |= self._worse_half(list(groups.values()), problem)

    def _problem(self, fused: Fused, name: str, origin: Origin) -> Reason | None:
        """Why a group cannot stay; None where it computes what the original does."""
        if origin.steps not in self.differences:
            try:
                found = self._verification.difference(origin.members, fused.working, name)
            except EngineRefused as error:
                return Reason("refused", {"said": str(error)})
            if found is None or found > TOLERANCE:
                return Reason("verification", {"difference": found, "tolerance": TOLERANCE})
            self.differences[origin.steps] = found
        return None

    def _whole(self) -> tuple[float | None, Reason | None]:
        """The difference of the model's outputs on its inputs. Where the original's cannot be
        compared (no numbers, or none that are finite) that is not a fault of the pass."""
        try:
            settings = msgspec.structs.replace(self._settings, model=str(self.path))
            outputs = outputs_of(settings)
        except Exception as error:  # noqa: BLE001 - the engine raises many kinds
            return None, Reason("refused", {"said": clean(str(error))})
        comparable = difference_of(self._reference, self._reference)[1] is not None
        _, relative = difference_of(self._reference, outputs)
        if comparable and (relative is None or relative > TOLERANCE):
            facts: dict[str, Any] = {"difference": relative, "tolerance": TOLERANCE}
            return relative, Reason("whole_model", facts)
        return relative, None

    def _worse_half(self, groups: list[Origin], reason: Reason) -> dict[Step, Reason]:
        """The groups that differ most by themselves: at least one, so that this comes to an end."""
        groups.sort(key=lambda origin: -(self.differences.get(origin.steps) or 0.0))
        worse = groups[: (len(groups) + 1) // 2]
        return {step: reason for origin in worse for step in origin.steps}


def outputs_of(settings: SessionSettings) -> list[Array | None]:
    """The outputs of a run, every optimisation off. Copies: a session takes its own with it."""
    session = GraphSession(settings, "none")
    session.run()
    return [None if array is None else array.copy() for array in session.outputs()]


def _with_shapes(model: onnx.ModelProto, settings: SessionSettings, folder: Path) -> Graph:
    """The model's graph; shapes that inference did not find are taken from a profiled run."""
    graph = graphs.from_model(model)
    made = [name for node in graph.nodes for name in node.outputs if name]
    if all(graph.bytes_of(name) is not None for name in made):
        return graph
    return graphs.from_model(model, graphs.profiled_shapes(profiled_run(settings, folder)))
