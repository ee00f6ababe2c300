"""Tiny models through the fusion pass, and what the engine computes before and after."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

from fusescope.collectors.fusion import fusing
from fusescope.collectors.fusion.report import Report
from fusescope.collectors.fusion.rules import parse
from fusescope.collectors.tasks.prepare import run as prepare
from fusescope.collectors.workers.jobs import PrepareJob, SessionSettings


@dataclass
class Passed:
    """A model after the pass, and the working copy it was made of."""

    before: onnx.ModelProto
    after: onnx.ModelProto
    report: Report
    settings: SessionSettings

    @property
    def op_types(self) -> list[str]:
        return [node.op_type for node in self.after.graph.node]

    def reasons(self) -> list[str]:
        """Why opportunities were not taken, in model order."""
        return [row.blocked_by for row in self.report.opportunities if row.blocked_by]


def passed(model: onnx.ModelProto, folder: Path, rules: str = "", seed: int = 0) -> Passed:
    """The model after the pass with these rules."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.in.onnx"
    path.write_bytes(model.SerializeToString())
    prepared = prepare(
        PrepareJob(str(path), str(folder), False, str(folder), 0, None, {}, None, {}, True)
    )
    names = tuple(fact.name for fact in prepared.facts)
    settings = SessionSettings(prepared.model, prepared.inputs, names, threads=1, spin=False)
    fused = folder / "fused"
    fused.mkdir()
    before = onnx.load(prepared.model)
    result = fusing.fuse(before, settings, parse(rules, "rules.toml"), fused, seed=seed)
    return Passed(before, onnx.load(str(result.path)), result.report, settings)


def outputs(model: onnx.ModelProto, seed: int = 1) -> list[np.ndarray]:
    """What the engine computes with every optimisation off, on random inputs of its own."""
    settings = ort.SessionOptions()
    settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    session = ort.InferenceSession(
        model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
    )
    chance = np.random.default_rng(seed)
    feeds = {
        value.name: chance.standard_normal(value.shape).astype(np.float32)
        for value in session.get_inputs()
    }
    return session.run(None, feeds)


def difference(one: onnx.ModelProto, other: onnx.ModelProto) -> float:
    """Largest max|a-b| / max|a| of any output."""
    pairs = zip(outputs(one), outputs(other), strict=True)
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)
