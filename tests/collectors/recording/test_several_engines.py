"""A recording of several engines: what is asked, and which worker does what. No engine runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.record import Recording, first_of_several
from fusescope.collectors.recording import blocks, several
from fusescope.collectors.recording.budget import BlockCost, Deadline
from fusescope.collectors.recording.model_blocks import ModelBlocks
from fusescope.collectors.recording.series import Series
from fusescope.collectors.workers import worker
from fusescope.collectors.workers.jobs import (
    BlockJob,
    BlockMeasured,
    CheckJob,
    Derived,
    Lane,
    LaneRuns,
    PeaksJob,
    ProfiledRuns,
    SessionSettings,
)
from fusescope.collectors.workers.pool import WorkerPool

TWO = ("onnxruntime", "openvino")
SETTINGS = SessionSettings(
    "m.onnx", "i.npz", ("x",), 1, spin=False, derived={"onnxruntime:int8": Derived("q.onnx")}
)


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """OpenVINO seems to be there, torch and jax are not."""
    real = state.state_of

    def seen(engine: Any) -> state.State:
        if engine.name == "openvino":
            return state.State("ready", tmp_path, version="2026.9")
        return replace(real(engine), kind="absent", reason=None)

    monkeypatch.setattr(state, "state_of", seen)


def asked(**changes: Any) -> Recording:
    names = changes.pop("variants", first_of_several(TWO))
    return Recording(**{"model": "mobilenetv2", "runtimes": TWO, "variants": names, **changes})


def test_fused_of_each_and_the_first_engine_is_the_baseline() -> None:
    plan = asked().plan()
    assert plan.names == ("onnxruntime:fused", "openvino:fused")
    assert [variant.engine for variant in plan.variants] == list(TWO)
    assert plan.baseline == "onnxruntime:fused"
    assert asked(runtimes=TWO[::-1]).plan().baseline == "openvino:fused"


def test_a_name_alone_is_of_every_engine_and_a_prefix_of_one() -> None:
    plan = asked(variants=("fused", "openvino:latency", "onnxruntime:unfused")).plan()
    assert plan.names == (
        "onnxruntime:fused",
        "openvino:fused",
        "openvino:latency",
        "onnxruntime:unfused",
    )
    assert asked(variants=("openvino:threads:1", "onnxruntime:eager")).plan().names[0] == (
        "openvino:threads:1"
    )
    names = ("openvino:marked", "openvino:latency", "onnxruntime:fused")
    assert asked(runtimes=TWO[::-1], variants=names).plan().baseline == "openvino:latency"
    assert asked(baseline="openvino:fused").plan().baseline == "openvino:fused"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"runtimes": (*TWO, "jax")}, "The engine jax is not installed. Run: fusescope runtimes"),
        ({"runtimes": (*TWO, "mindspore")}, "The engine mindspore runs no ONNX models"),
        ({"runtimes": (*TWO, "nothing")}, "There is no engine 'nothing'"),
        ({"runtimes": (*TWO, "openvino")}, "The engine openvino is named twice"),
        ({"variants": ("openvino:fused",)}, "No variant of the engine onnxruntime"),
        ({"variants": ("unfused",)}, "openvino has no variant 'unfused'"),  # another has
        ({"variants": ("openvino:nonsense",)}, "The engine openvino has no variant 'nonsense'"),
        (
            {"variants": ("fusd",)},
            "'fusd'. Did you mean 'fused'? Known: eager, unfused, basic, extended, fused, dynamic,",
        ),
        (
            {"variants": ("fused", "onnxruntime:custom:softmax")},
            "'onnxruntime:custom:softmax' cannot be",
        ),
        ({"variants": ("fused", "onnxruntime:spin")}, "beside other engines"),
        ({"variants": ("fused", "onnxruntime:without:X")}, "beside other engines"),
        ({"variants": ("fused", "onnxruntime:onnxruntime==1.20.0")}, "beside other engines"),
        ({"baseline": "fused"}, "onnxruntime:fused, openvino:fused"),
        ({"variants": ("fused", "torch:eager")}, "the engine torch, which is not in --runtime"),
        ({"model": "net.py:make"}, "net.py:make is Python code, but several engines"),
        ({"spin": True}, "--spin is not for a recording of several engines"),
        ({"ablate": True}, "--ablate is not for a recording of several engines"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        asked(**changes).plan()
    assert expected in told.value.text and "\n" not in told.value.text


def test_a_job_goes_to_the_engine_of_its_variant_by_the_name_that_it_has_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[tuple[str, Any, Path | None, str]] = []

    def run(task: str, job: Any, answer: Any, **more: Any) -> BlockMeasured:
        ran.append((task, job, more["python"], more["where"]))
        return BlockMeasured(
            [LaneRuns("fused", 1, [1], [1])], [ProfiledRuns("fused", "fused.json")]
        )

    monkeypatch.setattr(worker, "run", run)
    pool = several.with_engines(WorkerPool("net", 1, 1.0, None, lambda: False), TWO)
    lanes = (Lane("openvino:fused", 1), Lane("openvino:latency", 1))
    job = BlockJob(SETTINGS, lanes, 0, 0, 1, 0, 1, 0, ("openvino:fused",), "folder")
    measured = pool.run("block", job, BlockMeasured)
    check = CheckJob(SETTINGS, "onnxruntime:int8", "o", None, "g", "d", "m", "c", 0.0)
    pool.run("check", check, BlockMeasured)
    pool.run("of_no_variant", PeaksJob(1, False), BlockMeasured)
    pool.at_home().run("openvino.boundaries", check, BlockMeasured)

    assert [(task, where) for task, _, _, where in ran] == [
        ("openvino.block", "net, openvino"),
        ("check", "net, onnxruntime"),
        ("of_no_variant", "net"),
        ("openvino.boundaries", "net"),
    ]
    assert ran[0][2] is not None and ran[1][2] is None and ran[2][2] is None
    (_, there, _, _), (_, here, _, _), _, (_, unchanged, _, _) = ran
    assert there.lanes == (Lane("fused", 1), Lane("latency", 1))
    assert there.profiled_variants == ("fused",) and there.settings.derived == {}
    assert here.variant == "int8" and list(here.settings.derived) == ["int8"]
    assert unchanged == check
    assert measured.lanes[0].variant == measured.profiles[0].variant == "openvino:fused"


def series(folder: Path, ran: list[BlockJob], lanes: tuple[Lane, ...]) -> Series:
    def work(job: BlockJob) -> BlockMeasured:
        ran.append(job)
        return BlockMeasured(
            [
                LaneRuns(one.variant, one.copy, [10] * job.rounds, [9] * job.rounds)
                for one in job.lanes
            ],
            [ProfiledRuns(name, f"{job.profiles}/{name}.json") for name in job.profiled_variants],
        )

    made = ModelBlocks(SETTINGS, lanes, 0, 1, work, are_several=True)
    return Series(
        rounds=3,
        looks=(8,),
        folder=folder,
        cost=BlockCost(1.0, 0.1),
        deadline=Deadline.after(None),
        quiet_reference=None,
        measure=made.measure,
    )


def test_every_block_has_a_process_of_each_variant_and_one_of_the_control(tmp_path: Path) -> None:
    """None shares its caches with others of its engine, which the other engine's would not have."""
    names = ("onnxruntime:fused", "onnxruntime:unfused", "openvino:fused")
    ran: list[BlockJob] = []
    lanes = blocks.lanes(names, "onnxruntime:fused")
    made = series(tmp_path, ran, lanes)
    made.run(lambda: False, lambda: None)

    assert len(made.complete) == 8 and len(ran) == 8 * 4
    orders = set()
    for block in range(8):
        jobs = ran[4 * block : 4 * block + 4]
        assert {job.lanes for job in jobs} == {(lane,) for lane in lanes}
        (control,) = [job for job in jobs if job.lanes[0].copy == 2]
        assert not control.profiled_variants
        assert len({job.profiles for job in jobs}) == 4  # both engines write a fused.json
        orders.add(tuple(job.lanes for job in jobs))
    assert len(orders) > 2
    assert made.samples("openvino:fused").block == [b for b in range(8) for _ in range(3)]
    assert len(made.profiles("onnxruntime:unfused")[0]) == 8


def test_engines_are_told_by_version() -> None:
    ours = several.facts_of("onnxruntime", "1.23.4")
    assert (ours.version, ours.provider) == ("1.23.4", "CPUExecutionProvider")
    theirs = several.facts_of("openvino", "1.23.4")
    assert (theirs.name, theirs.version, theirs.provider) == ("openvino", "2026.9", "CPU")
    assert set(ENGINES) >= {"openvino"}
