"""Variants that an execution provider runs on a device: what is timed, fed and recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fusescope.collectors.recording import blocks
from fusescope.collectors.recording.budget import BlockCost, Deadline
from fusescope.collectors.recording.model_blocks import ModelBlocks
from fusescope.collectors.recording.series import Series
from fusescope.collectors.runtimes import providers
from fusescope.collectors.runtimes.onnxruntime import GraphSession
from fusescope.collectors.workers.jobs import (
    BlockJob,
    BlockMeasured,
    LaneRuns,
    ProfiledRuns,
    SessionSettings,
)


def test_on_a_device_runs_and_profiles_have_processes_of_their_own(tmp_path: Path) -> None:
    jobs: list[BlockJob] = []

    def work(job: BlockJob) -> BlockMeasured:
        jobs.append(job)
        return BlockMeasured(
            [LaneRuns(lane.variant, lane.copy, [5], [5]) for lane in job.lanes],
            [ProfiledRuns(name, f"{job.profiles}/x.json") for name in job.profiled_variants],
        )

    lanes = blocks.lanes(("unfused", "provider:cuda"), "unfused")
    settings = SessionSettings("m", "i", (), 1, spin=False)
    made = Series(
        rounds=3,
        looks=(1,),
        folder=tmp_path,
        cost=BlockCost(1.0, 0.03),
        deadline=Deadline(None),
        quiet_reference=None,
        measure=ModelBlocks(settings, lanes, 0, 5, work).measure,
    )
    assert made.run(lambda: False, lambda: None) == "blocks"
    found = {
        (tuple(lane.variant for lane in job.lanes), job.profiled_variants, job.times_kernels)
        for job in jobs
    }
    assert found == {
        (("unfused",), ("unfused",), False),
        (("unfused",), (), False),  # its copy for the control
        (("provider:cuda",), (), False),
        ((), ("provider:cuda",), True),
    }


@pytest.fixture
def doubling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionSettings:
    """y = x + x, by a provider that is said to have a device."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"], "double")],
        "double",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    file, inputs = tmp_path / "double.onnx", tmp_path / "inputs.npz"
    onnx.save(model, str(file))
    np.savez(inputs, arr_0=np.ones((2, 2), "float32"))
    monkeypatch.setattr(providers, "has_device", lambda name: True)
    monkeypatch.setattr(providers, "_load_libraries", lambda: None)
    return SessionSettings(str(file), str(inputs), ("x",), 1, spin=False)


def test_each_run_on_a_device_takes_what_was_fed_last(doubling: SessionSettings) -> None:
    session = GraphSession(doubling, "none")
    assert session.outputs()[0] is not None
    session.feed({"x": np.full((2, 2), 21, "float32")})
    session.run()
    output = session.outputs()[0]
    assert output is not None and output.tolist() == [[42, 42], [42, 42]]
