"""Whole recordings of tiny models, read back."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from onnx import TensorProto, helper

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.exports.session_script import session_script
from fusescope.collectors.progress import Progress
from fusescope.collectors.record import record, zoo_models
from fusescope.collectors.recording import quiet
from fusescope.collectors.workers import machine
from tests import known_peaks
from tests.collectors.short_recordings import File, run, short
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def conv(tmp_path_factory: pytest.TempPathFactory) -> tuple[File, list[Progress]]:
    """conv_bn_relu, two blocks of three rounds."""
    out = tmp_path_factory.mktemp("conv")
    return run(short("conv_bn_relu", out, blocks=2, threads=None, command="fusescope collect"))


def test_every_block_has_every_lane_and_round(conv: tuple[File, list[Progress]]) -> None:
    record_, _ = conv[0].record, conv[1]
    assert record_.outcome.blocks == 2
    assert record_.outcome.stopped == "blocks"
    assert record_.settings.rounds == 3
    assert record_.settings.looks == (2,)
    assert [variant.name for variant in record_.variants] == ["eager", "unfused", "fused"]
    for variant in record_.variants:
        copies = (1, 2) if variant.name == record_.settings.baseline else (1,)
        samples = variant.samples
        assert sorted(zip(samples.block, samples.copy, samples.round, strict=True)) == [
            (block, copy, place) for block in range(2) for copy in copies for place in range(3)
        ]
        assert all(wall > 0 for wall in samples.wall_ns)
        assert all(cpu > 0 for cpu in samples.cpu_ns)


def test_machine_and_settings_are_recorded(conv: tuple[File, list[Progress]]) -> None:
    record_ = conv[0].record
    assert record_.model.name == "conv_bn_relu"
    assert record_.model.source == "zoo"
    assert record_.model.nodes == 3
    assert record_.model.batch == 1
    assert record_.settings.threads == machine.physical_cores()
    assert record_.machine.memory_bytes > 0
    assert record_.peaks == known_peaks.peaks()
    for variant in record_.variants:
        assert variant.settings["intra_op_spinning"] is False
        assert variant.peak_memory_bytes is not None
        assert variant.peak_memory_bytes > 0


def test_eager_is_bit_equal_and_fused_is_close(conv: tuple[File, list[Progress]]) -> None:
    record_ = conv[0].record
    assert record_.variant("unfused").output_difference is None
    eager = record_.variant("eager").output_difference
    assert eager is not None
    assert (eager.absolute, eager.relative) == (0.0, 0.0)
    fused = record_.variant("fused").output_difference
    assert fused is not None
    assert fused.relative is not None
    assert 0 <= fused.relative < 1e-4


def test_profiles_hold_the_runs_that_the_record_promises(
    conv: tuple[File, list[Progress]],
) -> None:
    file = conv[0]
    for variant in file.record.variants:
        assert [profile.block for profile in variant.profiles] == [0, 1]
        for profile in variant.profiles:
            runs = profile.warmup_runs + file.record.settings.profiled_rounds
            if variant.name == "eager":
                assert profile.run_start_ns is not None
                assert len(profile.run_start_ns) == runs
            else:
                events = file.events(profile.file)
                assert sum(event["name"] == "model_run" for event in events) == runs


def test_eager_runs_contain_all_their_kernels(conv: tuple[File, list[Progress]]) -> None:
    file = conv[0]
    assert len(file.record.variant("eager").profiles) == 2
    for profile in file.record.variant("eager").profiles:
        assert profile.run_start_ns is not None
        assert profile.run_dur_ns is not None
        spans = [
            (start, start + dur)
            for start, dur in zip(profile.run_start_ns, profile.run_dur_ns, strict=True)
        ]
        assert all(left[1] <= right[0] + 1000 for left, right in itertools.pairwise(spans))
        seen = [0] * len(spans)
        for event in file.events(profile.file):
            if event["cat"] == "Node":
                start, end = event["ts"] * 1000, (event["ts"] + event["dur"]) * 1000
                inside = [p for p, span in enumerate(spans) if span[0] <= start and end <= span[1]]
                assert len(inside) == 1
                seen[inside[0]] += 1
        assert seen == [3] * len(spans)


def test_engine_profiles_are_untouched(conv: tuple[File, list[Progress]]) -> None:
    """The engine's own spelling: one event a line, a blank before each colon."""
    file = conv[0]
    for name in ("unfused", "fused"):
        assert len(file.record.variant(name).profiles) == 2
        for profile in file.record.variant(name).profiles:
            text = file.read(profile.file).decode()
            assert text.startswith('[\n{"cat" : "Session","pid" :')
            assert text.rstrip().endswith("]")


def test_graph_nodes_are_the_profiled_nodes(conv: tuple[File, list[Progress]]) -> None:
    file = conv[0]
    assert file.record.model_graph is not None
    model = file.graph(file.record.model_graph)
    assert [node.name for node in model.nodes] == [
        "block/Conv",
        "block/BatchNormalization",
        "block/Relu",
    ]
    assert {node.scope for node in model.nodes} == {"block"}
    for variant in file.record.variants:
        assert variant.graph is not None
        graph = file.graph(variant.graph)
        profiled = {
            event["name"].removesuffix("_kernel_time")
            for event in file.events(variant.profiles[0].file)
            if event["cat"] == "Node"
        }
        assert {node.name for node in graph.nodes} == profiled
        assert variant.nodes == len(graph.nodes)
        assert graph.tensors and all(tensor.bytes is not None for tensor in graph.tensors)
    weight = model.tensor["block.weight"]
    assert (weight.shape, weight.dtype, weight.constant) == ((64, 64, 3, 3), "float32", True)


def test_progress_ends_with_the_path(conv: tuple[File, list[Progress]]) -> None:
    file, steps = conv
    assert [step.stage for step in steps] == [
        "prepare",
        "prepare", "check", "check", "check", "check", "peaks", "blocks", "blocks", "write", "done",
    ]  # fmt: skip
    assert [told for step in steps if (told := str(step.message)).startswith("Following")] == [
        "Following the tensors of fused"
    ]
    assert steps[-1].path == str(file.path)
    assert all(step.seconds_left is not None for step in steps if step.stage == "blocks")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "taken.zip").write_bytes(b"mine")
    file, steps = run(short("mul_add", tmp_path / "taken.zip", variants=("unfused",)))
    assert file.path == tmp_path / "taken-2.zip"
    assert (tmp_path / "taken.zip").read_bytes() == b"mine"
    assert "taken.zip already exists" in str(steps[-1].message)
    assert [variant.name for variant in file.record.variants] == ["unfused"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken-2.zip", "taken.zip"]


def test_spinning_runs_each_lane_alone(tmp_path: Path) -> None:
    file, _ = run(short("conv_bn_relu", tmp_path, spin=True, threads=machine.physical_cores()))
    assert file.record.settings.spin is True
    lanes = {(v.name, copy) for v in file.record.variants for copy in v.samples.copy}
    assert lanes == {("eager", 1), ("unfused", 1), ("unfused", 2), ("fused", 1)}
    assert {len(v.profiles) for v in file.record.variants} == {1}
    eager = file.record.variant("eager")
    assert eager.settings["thread_pool"] == "shared"
    assert eager.output_difference is not None
    assert eager.output_difference.absolute == 0.0


def test_threads_that_spin_beside_threads_that_do_not(tmp_path: Path) -> None:
    asked = short("conv_bn_relu", tmp_path, variants=("fused", "spin"), threads=2)
    file, _ = run(asked)
    record = file.record
    assert [variant.settings["intra_op_spinning"] for variant in record.variants] == [False, True]
    assert (record.settings.spin, record.spinning) == (False, ("spin",))
    value = read_path(file.path)
    assert isinstance(value, Experiment)
    fused, spin = (side_of_variant(value, name) for name in ("fused", "spin"))
    assert fused.peaks is not None and spin.peaks is None
    codes = {note.code for note in compare(fused, spin).diagnostics}
    assert "paired_spin" in codes and "paired" not in codes
    scripts = {name: str(session_script(record, name)) for name in record.names}
    assert 'allow_spinning", "0"' in scripts["fused"]
    assert 'allow_spinning", "1"' in scripts["spin"]
    with pytest.raises(FuseScopeError, match="every variant spin, so 'spin' would be fused"):
        replace(asked, spin=True).plan()


def test_unnamed_nodes_dynamic_dims_and_integer_inputs(
    tmp_path: Path, save_model: Callable[..., Path]
) -> None:
    model = save_model(
        [
            helper.make_node("Cast", ["pixels"], ["p"], to=TensorProto.FLOAT),
            helper.make_node("Gather", ["table", "ids"], ["rows"], name="same"),
            helper.make_node("Constant", [], ["half"], value_float=0.5),
            helper.make_node("Mul", ["rows", "half"], ["halved"], name="same"),
            helper.make_node("Add", ["p", "halved"], ["y"]),
        ],
        {"pixels": ("int8", ["n", "time", 4]), "ids": ("int64", ["n", "time"])},
        ["y"],
        {"table": np.arange(8, dtype=np.float32).reshape(2, 4)},
    )
    file, _ = run(short(model, tmp_path, shapes={"ids": (2, 3)}))
    record_ = file.record
    assert {i.name: (i.dtype, i.shape) for i in record_.model.inputs} == {
        "pixels": ("int8", (2, 3, 4)),
        "ids": ("int64", (2, 3)),
    }
    assert record_.model.batch == 2
    assert record_.model.source == "file"
    eager = record_.variant("eager")
    assert eager.output_difference is not None
    assert eager.output_difference.absolute == 0.0
    for name in ("eager", "unfused"):
        graph = file.graph(f"graphs/{name}.json")
        assert sorted(node.name for node in graph.nodes) == ["Add_4", "Cast_0", "Mul_3", "same"]
    assert file.graph("graphs/model.json").tensor["half"].constant


def test_a_dynamic_dimension_without_a_size_names_the_input(
    tmp_path: Path, save_model: Callable[..., Path]
) -> None:
    model = save_model(
        [helper.make_node("Relu", ["x"], ["y"])], {"x": ("float32", ["n", 3, "h", "w"])}, ["y"]
    )
    with pytest.raises(FuseScopeError, match=r"'x' has dynamic dimensions: \[n, 3, h, w\]") as told:
        run(short(model, tmp_path))
    assert "--shape x=1,3,1,1" in told.value.hint


@pytest.mark.exhaustive  # test_quiet.py has its parts
def test_a_calm_recording_leaves_a_quiet_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    quick = {"variants": ("unfused",), "rounds": 1, "profiled_rounds": 1}
    monkeypatch.setattr(machine, "load", lambda: 50.0)
    run(short("mul_add", tmp_path, blocks=8, **quick))
    monkeypatch.setattr(machine, "load", lambda: 0.1)
    file, _ = run(short("mul_add", tmp_path, blocks=8, **quick))
    assert file.record.outcome.quiet_reference is None
    file, _ = run(short("mul_add", tmp_path, blocks=1, **quick))
    assert file.record.outcome.quiet_reference is not None
    assert -12 < file.record.outcome.quiet_reference < 0
    file, _ = run(short("mul_add", tmp_path, blocks=1, **{**quick, "variants": ("fused",)}))
    assert file.record.outcome.quiet_reference is None


def test_blocks_kept_under_load_are_recorded_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No machine is as fast as this reference, so every block counts as loaded."""
    monkeypatch.setattr(quiet, "stored", lambda key: -60.0)
    file, steps = run(short("mul_add", tmp_path, blocks=2, variants=("unfused",)))
    assert (file.record.outcome.blocks_replaced, file.record.outcome.blocks_loaded) == (2, 2)
    assert str(steps[-1].message) == "Recorded 2 blocks, 2 of them while the machine was busy"


def test_an_interruption_keeps_complete_blocks(tmp_path: Path) -> None:
    def interrupt(step: Progress) -> None:
        steps.append(step)
        if step.stage == "blocks" and step.done == 2:
            raise KeyboardInterrupt

    steps: list[Progress] = []
    recording = short("mul_add", tmp_path, blocks=5, variants=("unfused", "fused"))
    file = File.open(record(recording, on_progress=interrupt))
    assert file.record.outcome.stopped == "interrupted"
    assert file.record.outcome.blocks == 2
    assert {len(v.profiles) for v in file.record.variants} == {2}
    assert "kept 2 blocks" in str(steps[-1].message)


def failing_device(step: Progress, steps: list[Progress], after: int) -> None:
    steps.append(step)
    if step.stage == "blocks" and step.done == after:
        raise FuseScopeError("device_failed", device="cuda", reason="unspecified launch failure")


def test_a_device_that_fails_keeps_complete_blocks(tmp_path: Path) -> None:
    steps: list[Progress] = []
    recording = short("mul_add", tmp_path, blocks=5, variants=("unfused", "fused"))
    path = record(recording, on_progress=lambda step: failing_device(step, steps, 2))
    file = File.open(path)
    assert (file.record.outcome.stopped, file.record.outcome.blocks) == ("device", 2)
    assert str(steps[-1].message) == (
        "The device failed; kept 2 blocks. The device cuda failed: unspecified launch failure."
    )


def test_a_device_that_fails_before_the_first_block_writes_nothing(tmp_path: Path) -> None:
    recording = short("mul_add", tmp_path, blocks=5, variants=("unfused",))
    with pytest.raises(FuseScopeError, match="The device cuda failed"):
        record(recording, on_progress=lambda step: failing_device(step, [], 0))
    assert list(tmp_path.iterdir()) == []


def test_a_recording_cancelled_before_its_first_block_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError, match="before its first block"):
        run(short("mul_add", tmp_path), cancelled=lambda: True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive  # test_worker.py ends workers one by one
def test_a_killed_recorder_leaves_no_file_and_no_worker(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    script = (
        "import sys; from pathlib import Path;"
        "from fusescope.collectors.record import Recording, record;"
        "from tests import known_peaks; known_peaks.use();"
        # A block of minutes: a worker that lives on would not end by itself while the test waits.
        "record(Recording('mul_add', out=Path(sys.argv[1]), batch=16, blocks=500, rounds=10_000,"
        "variants=('unfused', 'fused'), own_pass=False),"
        "on_progress=lambda step: print(step.stage, flush=True))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(out)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        if line.strip() == "blocks":
            break
    deadline = time.monotonic() + GIVE_UP_S
    workers: list[psutil.Process] = []
    while not workers and time.monotonic() < deadline:
        workers = psutil.Process(child.pid).children(recursive=True)
    assert workers
    # Past its start, which looks for its parent once, and in the middle of a block.
    while sum(workers[0].cpu_times()[:2]) < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    _, alive = psutil.wait_procs(workers, timeout=GIVE_UP_S)
    assert alive == []
    assert list(out.iterdir()) == []


def test_zoo_models_are_described_without_an_engine() -> None:
    code = (
        "import sys, fusescope.collectors.record as r; assert list(r.zoo_models());"
        "sys.exit(any(m.split('.')[0] in ('onnx', 'onnxruntime') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
    assert set(zoo_models()) == {
        "resnet50", "mobilenetv2", "deeplabv3plus", "deeplabv3plus-resnet50",
        "transformer_encoder", "rotary_encoder", "relative_encoder", "group_norm", "instance_norm",
        "conv_bn", "conv_bn_relu", "depthwise_conv", "mul_add", "mynet", "mynet_composite",
        "add_relu", "mul_sigmoid",
    }  # fmt: skip
