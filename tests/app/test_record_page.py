"""The Record page, with a recorder that records nothing."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.testing.v1 import AppTest

import fusescope.collectors.record
from fusescope.analysis.compare.timing.verdict import Interval, Verdict
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import Message
from fusescope.analysis.readers import read_path
from fusescope.app.parts.recording import results
from fusescope.app.recording import own_models, progress, recorder
from fusescope.app.recording.recorder import Status
from fusescope.app.sources import places
from fusescope.app.views import record as view
from fusescope.collectors.environments import named
from fusescope.collectors.progress import Progress, Stage
from fusescope.collectors.record import Recording
from tests.app.conftest import BLOCKS
from tests.app.pages import is_clean, texts
from tests.compare.multiple.test_scaling import recorded_zip
from tests.engine_experiments import two_engines
from tests.factories import experiment_zip
from tests.patience import GIVE_UP_S

Open = Callable[[], AppTest]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Recording]]:
    """The recordings that the page started; each waits until it is cancelled."""
    started: list[Recording] = []

    def record(job: Recording, *, on_progress: Any, cancelled: Any, **_: Any) -> Path:
        started.append(job)
        on_progress(Progress("blocks", 2, 8, Message("Block 3 of 8 (at most 24)"), 42.0))
        while not cancelled():
            time.sleep(0.01)
        assert job.out is not None
        path = job.out / "mine.zip"
        path.write_bytes(experiment_zip(BLOCKS, model_name="mine"))
        return path

    monkeypatch.setattr(recorder, "RECORDER", recorder.Recorder())
    monkeypatch.setattr(fusescope.collectors.record, "record", record)
    yield started
    recorder.RECORDER.stop()


# AppTest opens only the first page of functions: here that is Record.
SCRIPT = """
import streamlit as st
from fusescope.app.views import compare, engines, record, scaling

compare_page = st.Page(compare.show, title="Compare", url_path="compare")
engines_page = st.Page(
    lambda: engines.show(compare_page), title="Engines", url_path="engines"
)
scaling_page = st.Page(
    lambda: scaling.show({"compare": compare_page}), title="Scaling", url_path="scaling"
)
record_page = st.Page(
    lambda: record.show(compare_page, scaling_page, engines_page), title="Record", default=True
)
st.navigation([record_page, compare_page, scaling_page, engines_page], position="top").run()
"""


@pytest.fixture
def open_page(tree: Path) -> Open:
    """`open_page()` is the Record page in a session of its own."""
    return lambda: AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S).run()


def wait_until(reached: Callable[[recorder.Status], bool]) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while recorder.RECORDER.status is None or not reached(recorder.RECORDER.status):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait() -> None:
    wait_until(lambda status: not status.running)


def test_a_recording_from_form_to_comparison(open_page: Open, asked: list[Recording]) -> None:
    page = open_page()
    assert is_clean(page)
    page.selectbox(key="record_model").set_value("mul_add").run()
    page.text_input(key="record_threads").set_value("1")
    page.button(key="record_start").click().run()
    assert is_clean(page)
    [job] = asked
    assert (job.model, job.threads, job.seconds) == ("mul_add", 1, 60.0)
    assert job.variants == ("unfused", "custom:mul_add", "fused")
    assert job.allow_external_data is False
    wait_until(lambda status: status.progress is not None)
    page.run()
    assert "Block 3 of 8 (at most 24)" in texts(page)
    other = open_page()
    assert not [b for b in other.button if b.key == "record_start"]  # one at a time
    page.button(key="record_cancel").click().run()
    wait()
    page.run()
    assert "mine.zip" in texts(page)
    assert page.success[0].value == "Recorded."
    assert any(text.startswith("fused is 2.00× faster than unfused (95 %") for text in texts(page))
    page.text_input(key="kept_rename_mine.zip").set_value("other")
    page.button(key="kept_rename").click().run()
    assert "other.zip" in texts(page) and "mine.zip" not in texts(page)
    assert any(text.startswith("fused is 2.00× faster than unfused (95 %") for text in texts(page))
    page.button(key="record_dismiss").click().run()
    assert not page.success


def test_settings_that_cannot_be_are_one_sentence(open_page: Open, asked: list[Recording]) -> None:
    page = open_page()
    page.selectbox(key="record_model").set_value("mul_add").run()
    six = "1,2,3,4,5,6"
    for threads, batch, says in (
        ("1;2", "", "'1;2' is not a value of Threads. Write 1,4,16."),
        ("0", "", "Threads cannot be 0. Give a number from 1 to "),
        ("", "1,65537", "Batch size cannot be 65537. "),
        (six, six, "36 combinations are too many to record: the limit is 32. "),
    ):
        page.text_input(key="record_threads").set_value(threads)
        page.text_input(key="record_batch").set_value(batch)
        page.button(key="record_start").click().run()
        assert not asked and is_clean(page)
        assert any(text.startswith(says) for text in texts(page)), says


def test_several_settings_are_recorded_and_shown_as_scaling(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each recording waits for its turn; the last one is stopped."""
    jobs: list[Recording] = []
    turns = [threading.Event() for _ in range(3)]

    def record(job: Recording, *, on_progress: Any, cancelled: Any, **_: Any) -> Path:
        jobs.append(job)
        on_progress(Progress("blocks", 4, 8, Message("Block 5 of 8"), 21.0))
        turn = turns[len(jobs) - 1]
        while not turn.wait(0.01) and not cancelled():
            pass
        assert job.out is not None
        stopped = "blocks" if turn.is_set() else "interrupted"
        outcome = {"blocks": 8, "blocks_replaced": 0, "stopped": stopped}
        job.out.write_bytes(recorded_zip(job.batch or 0, job.threads or 0, 10.0, outcome=outcome))
        return job.out

    monkeypatch.setattr(recorder, "RECORDER", recorder.Recorder())
    monkeypatch.setattr(fusescope.collectors.record, "record", record)
    page = open_page()
    page.selectbox(key="record_model").set_value("mul_add").run()
    page.text_input(key="record_threads").set_value("1, 2")
    page.text_input(key="record_batch").set_value("1,4")
    page.button(key="record_start").click().run()
    turns[0].set()
    wait_until(lambda status: status.setting == 2 and status.progress is not None)
    page.run()
    assert "Setting 2 of 4: batch size 1, 2 threads" in texts(page)
    [bar] = page.get("progress")
    # One setting of four, and of the next one a fifth, for what comes first, and half of the rest.
    assert bar.proto.value == 40 and bar.proto.text == (
        "Recording · about 21 s left of this setting"
    )
    turns[1].set()
    wait_until(lambda status: status.setting == 3 and status.progress is not None)
    page.run()
    page.button(key="record_cancel").click().run()
    wait()
    page.run()
    assert is_clean(page) and "Recorded settings: 3 of 4." in texts(page)
    assert [(job.batch, job.threads, job.seconds) for job in jobs] == [
        (1, 1, 15.0), (1, 2, 15.0), (4, 1, 15.0)
    ]  # fmt: skip
    names = [job.out.name for job in jobs if job.out]
    assert names[0].startswith("mul_add-20") and names[2].endswith("-batch4-threads1.zip")
    page.button(key="record_open").click().run()
    assert is_clean(page)
    [frame] = [one.value for one in page.dataframe]
    assert list(frame["Batch size"]) == ["1", "1", "4"] and list(frame["Threads"]) == [1, 2, 1]


def test_a_setting_that_fails_keeps_those_before(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(job: Recording, **_: Any) -> Path:
        assert job.out is not None
        if job.batch == 4:
            raise FuseScopeError("engine_refused", reason="<b>x</b>")
        job.out.write_bytes(recorded_zip(job.batch or 0, 1, 10.0))
        return job.out

    monkeypatch.setattr(recorder, "RECORDER", recorder.Recorder())
    monkeypatch.setattr(fusescope.collectors.record, "record", record)
    page = open_page()
    page.selectbox(key="record_model").set_value("mul_add").run()
    page.text_input(key="record_batch").set_value("1,2,4")
    page.button(key="record_start").click().run()
    wait()
    page.run()
    assert page.error[0].value == "The sweep ended at a setting that could not be recorded."
    assert "Setting 3 of 3: batch size 4" in [text.value for text in page.text]
    assert any(text.startswith("The engine refused the model: <b>x</b>.") for text in texts(page))
    assert "Recorded settings: 2 of 3." in texts(page)
    assert [button for button in page.button if button.key == "record_open"]
    # A file that is deleted is no longer told of.
    [status] = filter(None, [recorder.RECORDER.status])
    recorder.RECORDER.moved(status.paths[0], None)
    page.run()
    assert "Recorded settings: 1 of 3." in texts(page)


def test_a_link_presets_model_and_variants_once(tree: Path) -> None:
    page = AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S)
    page.query_params["model"] = "mul_add"
    page.query_params["variants"] = "unfused,rules:O3,<b>,fused"
    page.run()
    assert is_clean(page)
    assert page.selectbox(key="record_model").value == "mul_add"
    assert page.multiselect(key="record_variants").value == ["unfused", "rules:O3", "fused"]
    assert not page.query_params  # what is chosen now is no longer that of the link
    page.selectbox(key="record_model").set_value("add_relu").run()
    assert page.selectbox(key="record_model").value == "add_relu"

    unknown = AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S)
    unknown.query_params["model"] = "../../etc/passwd"
    unknown.query_params["variants"] = "fused"
    unknown.run()
    assert is_clean(unknown)
    assert unknown.multiselect(key="record_variants").value == ["eager", "unfused", "fused"]


def test_two_variants_are_needed(open_page: Open, asked: list[Recording]) -> None:
    page = open_page()
    page.multiselect(key="record_variants").set_value(["fused"])
    page.button(key="record_start").click().run()
    assert not asked
    assert any("needs two variants" in text for text in texts(page))


def test_an_ablation_may_come_with_any_variants(open_page: Open, asked: list[Recording]) -> None:
    page = open_page()
    page.multiselect(key="record_variants").set_value([])
    page.toggle(key="record_ablate").set_value(True)
    page.button(key="record_start").click().run()
    assert is_clean(page)
    [job] = asked
    assert job.ablate
    assert job.plan().names == ("unfused", "fused")


def test_a_failed_recording_says_why(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Path:
        raise FuseScopeError("engine_refused", reason="<b>x</b>")

    monkeypatch.setattr(fusescope.collectors.record, "record", failing)
    page = open_page()
    page.button(key="record_start").click().run()
    wait()
    page.run()
    assert page.error[0].value == "Nothing was recorded."
    assert any(text.startswith("The engine refused the model: <b>x</b>.") for text in texts(page))


def test_a_stop_is_no_failure(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any, cancelled: Callable[[], bool], **__: Any) -> Path:
        while not cancelled():
            time.sleep(0.01)
        raise FuseScopeError("interrupted_too_early")

    monkeypatch.setattr(fusescope.collectors.record, "record", stopped)
    page = open_page()
    page.button(key="record_start").click().run()
    page.button(key="record_cancel").click().run()
    wait()
    page.run()
    assert not page.error
    assert page.info[0].value == (
        "Stopped before the first block was complete, so there is no recording."
    )


def test_the_bar_moves_from_the_first_stage_on_and_never_back() -> None:
    stages: list[tuple[Stage, int, int]] = [
        ("prepare", 0, 1), ("prepare", 1, 1), ("check", 0, 3), ("check", 2, 3), ("peaks", 0, 1),
        ("blocks", 0, 8), ("blocks", 4, 8), ("blocks", 8, 8), ("write", 0, 1), ("done", 8, 8),
    ]  # fmt: skip
    shares = [progress._share(recorder.Status("m"))] + [
        progress._share(recorder.Status("m", progress=Progress(*stage, Message("x"))))
        for stage in stages
    ]
    assert all(share > 0 for share in shares) and shares[-1] == 1
    assert shares == sorted(shares) and shares[7] == pytest.approx(0.6)


def test_models_below_the_folders_are_listed(
    open_page: Open, tree: Path, asked: list[Recording]
) -> None:
    folder = tree / "open"
    (tree / "secret.onnx").write_bytes(b"x")
    for name in ("good.onnx", "deep/er/other.onnx", ".hidden/no.onnx", "no.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x" * 1200)
    (folder / "out.onnx").symlink_to(tree / "secret.onnx")
    page = open_page()
    options = page.selectbox(key="record_model").options
    assert [name for name in options if ".onnx" in name] == [
        "deep/er/other.onnx, 1.20 kB", "good.onnx, 1.20 kB",
    ]  # fmt: skip
    page.selectbox(key="record_model").set_value("file:good.onnx").run()
    page.button(key="record_start").click().run()
    assert is_clean(page)
    assert [job.model for job in asked] == [str(folder / "good.onnx")]


def test_models_of_one_name_in_two_folders_are_recorded_as_what_was_chosen(
    open_page: Open, tree: Path, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(monkeypatch, "openvino")
    folders = [tree / "open", tree / "more"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
        (folder / "net.onnx").write_bytes(b"x")
    monkeypatch.setenv(places.FOLDERS_VARIABLE, os.pathsep.join(map(str, folders)))
    page = open_page()
    page.selectbox(key="record_model").set_value("file:2:net.onnx").run()
    page.segmented_control(key="record_engine").set_value("several").run()
    [command] = [one.value for one in page.code if "--runtime onnxruntime" in one.value]
    assert f" {folders[1] / 'net.onnx'} " in command
    page.multiselect(key="record_variants").set_value(["onnxruntime:fused"]).run()
    assert not [one for one in page.code if "--runtime onnxruntime" in one.value]
    page.multiselect(key="record_variants").set_value(["onnxruntime:fused", "openvino:fused"]).run()
    page.button(key="record_start").click().run()
    assert is_clean(page)
    assert [job.model for job in asked] == [str(folders[1] / "net.onnx")]


def test_a_path_is_typed_only_where_not_all_models_are_listed(
    open_page: Open, tree: Path, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_models, "MAX_MODELS", 1)
    (tree / "secret.onnx").write_bytes(b"x")
    for name in ("a.onnx", "b.onnx"):
        (tree / "open" / name).write_bytes(b"x")
    page = open_page()
    page.selectbox(key="record_model").set_value(view.OWN_FILE).run()
    page.text_input(key="record_path").set_value("../secret.onnx")
    page.button(key="record_start").click().run()
    assert not asked
    assert any("no such file below" in text for text in texts(page))
    page.text_input(key="record_path").set_value("b.onnx")
    page.button(key="record_start").click().run()
    assert [job.model for job in asked] == [str(tree / "open" / "b.onnx")]


def test_a_model_brings_the_variants_that_show_its_point(open_page: Open) -> None:
    page = open_page()
    assert page.multiselect(key="record_variants").value == ["eager", "unfused", "fused"]
    page.selectbox(key="record_model").set_value("mul_add").run()
    assert page.multiselect(key="record_variants").value == [
        "unfused", "custom:mul_add", "fused",
    ]  # fmt: skip
    said = [caption.value.replace("\\", "") for caption in page.caption]
    assert "unfused: the whole graph, every optimisation off" in said
    page.multiselect(key="record_variants").set_value(["unfused", "fused"]).run()
    assert page.multiselect(key="record_variants").value == ["unfused", "fused"]
    page.selectbox(key="record_model").set_value("resnet50").run()
    assert page.multiselect(key="record_variants").value == ["eager", "unfused", "fused"]


def test_recordings_are_renamed_and_deleted(open_page: Open, tree: Path) -> None:
    folder = tree / "recordings"
    for name in ("first.zip", "second.zip"):
        (folder / name).write_bytes(experiment_zip(BLOCKS))
    (folder / "broken.zip").write_bytes(b"PK")
    page = open_page()
    recorder.RECORDER.start(Recording("mul_add"), lambda *_, **__: folder / "second.zip")
    wait()
    page.selectbox(key="kept_name").set_value("first.zip").run()
    for wanted, why in (
        ("second", "already a recording with this name"),
        ("../x", "cannot be the name"),
        ("<b>", "cannot be the name"),
    ):
        page.text_input(key="kept_rename_first.zip").set_value(wanted)
        page.button(key="kept_rename").click().run()
        assert any(why in text for text in texts(page)), wanted
        assert [error.value for error in page.error] == ["The recording keeps its name."]
        assert page.button(key="kept_delete_sure")  # what stands behind it is still there
    page.text_input(key="kept_rename_first.zip").set_value("renamed (1)")
    page.button(key="kept_rename").click().run()
    assert is_clean(page)
    assert sorted(path.name for path in folder.iterdir()) == [
        "broken.zip", "renamed (1).zip", "second.zip",
    ]  # fmt: skip
    page.selectbox(key="kept_name").set_value("second.zip").run()
    assert page.success[0].value == "Recorded."
    page.button(key="kept_delete_sure").click().run()
    assert is_clean(page)
    assert not page.success  # nothing says that it was recorded, once it is gone
    assert sorted(path.name for path in folder.iterdir()) == ["broken.zip", "renamed (1).zip"]


def test_a_missing_engine_is_named(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda name: None if name == "onnxruntime" else 1)
    page = open_page()
    assert r"not installed\: onnxruntime." in page.info[0].value
    assert "fusescope[collect]" in page.info[0].value
    assert not [b for b in page.button if b.key == "record_start"]


def test_a_dashboard_that_answers_others_does_not_record(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.st, "get_option", lambda _: "0.0.0.0")
    assert "Recording is off" in open_page().info[0].value


def test_the_form_says_where_own_models_come_from_until_there_is_a_folder(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Models below a folder are listed when the dashboard is started with "
    assert said not in " ".join(caption.value for caption in open_page().caption)
    monkeypatch.delenv(places.FOLDERS_VARIABLE)
    assert said in " ".join(caption.value for caption in open_page().caption)


def test_rule_files_of_a_configured_folder_are_variants(
    open_page: Open, tree: Path, asked: list[Recording]
) -> None:
    page = open_page()
    assert any("fusescope serve --folder DIR" in caption.value for caption in page.caption)
    (tree / "open" / "mine.toml").write_text('level = "O1"')
    (tree / "open" / "not a name.toml").write_text("")
    (tree / "secret.toml").write_text("")
    (tree / "open" / "link.toml").symlink_to(tree / "secret.toml")
    page = open_page()
    assert is_clean(page)
    assert not any("--folder DIR" in caption.value for caption in page.caption)
    variants = page.multiselect(key="record_variants")
    built_in = {"rules:O1", "rules:O2", "rules:O3"}
    rules = {name for name in variants.options if name.startswith("rules:")}
    assert built_in < rules and "rules:mine.toml" in rules
    assert not any("link" in name or "not a" in name for name in rules)
    variants.set_value(["unfused", "rules:O2", "rules:mine.toml"])
    page.button(key="record_start").click().run()
    assert is_clean(page)
    [job] = asked
    assert job.variants == ("unfused", "rules:O2", "rules:mine.toml")
    assert job.rules == {"rules:mine.toml": 'level = "O1"'}


def test_input_shapes(open_page: Open, asked: list[Recording]) -> None:
    page = open_page()
    page.text_input(key="record_shapes").set_value("x=1,batch")
    page.button(key="record_start").click().run()
    assert not asked
    assert any("'x=1,batch' is not a shape of an input" in text for text in texts(page))
    page.text_input(key="record_shapes").set_value("x=1,3; mask=2")
    page.button(key="record_start").click().run()
    assert [dict(job.shapes) for job in asked] == [{"x": (1, 3), "mask": (2,)}]


def test_devices_that_an_environment_sees_are_offered(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With their variants; the processor is first."""
    ready(monkeypatch, "torch", "torch@gpu")
    collect = fusescope.collectors.record
    monkeypatch.setattr(collect, "runtimes_of", lambda model: ("torch", "torch@gpu"))
    found = {"cuda:0": "NVIDIA H100", "cuda:1": "NVIDIA H100"}
    monkeypatch.setattr(
        collect, "devices_of", lambda runtime: found if runtime == "torch@gpu" else {}
    )
    page = open_page()
    page.selectbox(key="record_model").set_value("torch:mlp").run()
    page.segmented_control(key="record_engine").set_value("torch@gpu").run()
    assert is_clean(page)
    device = page.selectbox(key="record_device")
    assert device.options == ["CPU", "NVIDIA H100 (cuda:0)", "NVIDIA H100 (cuda:1)"]
    assert "reduce-overhead" not in page.multiselect(key="record_variants").options
    device.set_value("cuda:1").run()
    assert "reduce-overhead" in page.multiselect(key="record_variants").options
    page.button(key="record_start").click().run()
    assert is_clean(page)
    [job] = asked
    assert (job.runtime, job.placement.device) == ("torch@gpu", "cuda:1")


def ready(monkeypatch: pytest.MonkeyPatch, *engines: str) -> None:
    monkeypatch.setattr(
        fusescope.collectors.record, "is_ready", lambda name: name in ("onnxruntime", *engines)
    )


def test_a_built_in_model_of_an_engine_is_recorded_with_the_variants_of_that(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(monkeypatch, "torch", "jax", "mindspore")
    page = open_page()
    page.selectbox(key="record_model").set_value("torch:mlp").run()
    assert is_clean(page)
    variants = page.multiselect(key="record_variants")
    own = ["eager", "captured", "unfused", "fused", "freezing", "max-autotune"]
    assert variants.options == own
    assert not [box for box in page.selectbox if box.key == "record_device"]
    assert variants.value == ["eager", "captured", "unfused", "fused"]
    # Code of one's own is for the command line, and options of ONNX models are not torch's.
    assert "fusescope collect net.py:make --runtime torch" in texts(page)
    assert not [
        field for field in page.text_input if field.key in ("record_batch", "record_shapes")
    ]
    page.toggle(key="record_ablate_fusions").set_value(True)
    page.button(key="record_start").click().run()
    assert is_clean(page)
    [job] = asked
    assert (job.runtime, job.model, job.ablate, job.batch) == ("torch", "torch:mlp", True, None)
    assert job.plan().path is None and job.variants == tuple(variants.value)
    page.button(key="record_cancel").click().run()
    wait()
    page.run()
    page.selectbox(key="record_model").set_value("jax:mlp").run()
    assert page.multiselect(key="record_variants").value == ["eager", "unfused", "fused"]
    assert not [toggle for toggle in page.toggle if toggle.key.startswith("record_ablate")]
    page.selectbox(key="record_model").set_value("mindspore:mynet").run()
    own = ["eager", "unfused", "generated", "fused"]
    assert page.multiselect(key="record_variants").value == own
    assert not [toggle for toggle in page.toggle if toggle.key.startswith("record_ablate")]
    page.selectbox(key="record_model").set_value("mul_add").run()
    assert is_clean(page)
    assert page.multiselect(key="record_variants").value == ["unfused", "custom:mul_add", "fused"]
    assert [field.key for field in page.text_input if field.key == "record_batch"]


def test_an_onnx_model_is_recorded_with_the_engine_that_is_chosen(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(monkeypatch, "openvino")
    page = open_page()
    page.selectbox(key="record_model").set_value("mul_add").run()
    assert page.segmented_control(key="record_engine").value == "onnxruntime"
    page.segmented_control(key="record_engine").set_value("openvino").run()
    assert is_clean(page)
    variants = page.multiselect(key="record_variants")
    assert variants.options == ["marked", "fused", "latency", "throughput", "bf16"]
    assert variants.value == ["marked", "fused"]
    assert not [toggle for toggle in page.toggle if toggle.key.startswith("record_ablate")]
    page.text_input(key="record_batch").set_value("2")
    page.button(key="record_start").click().run()
    [job] = asked
    assert (job.runtime, job.model, job.batch) == ("openvino", "mul_add", 2)
    assert job.variants == ("marked", "fused") and job.plan().baseline == "fused"
    page.button(key="record_cancel").click().run()
    wait()
    page.run()
    page.selectbox(key="record_model").set_value("mynet").run()  # the engine stays
    assert page.multiselect(key="record_variants").value == ["marked", "fused"]
    page.segmented_control(key="record_engine").set_value("onnxruntime").run()
    assert "unfused" in page.multiselect(key="record_variants").value
    assert is_clean(page)


def test_an_engine_that_is_not_there_is_one_command(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(monkeypatch)
    page = open_page()
    page.selectbox(key="record_model").set_value("torch:mlp").run()
    assert is_clean(page) and not asked
    assert [code.value for code in page.code if "runtimes" in code.value] == [
        "fusescope runtimes add torch"
    ]
    assert not [button for button in page.button if button.key == "record_start"]


def test_one_model_is_recorded_with_several_engines(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(monkeypatch, "openvino", "torch")
    page = open_page()
    page.selectbox(key="record_model").set_value("mul_add").run()
    page.segmented_control(key="record_engine").set_value("several").run()
    assert is_clean(page)
    engines = page.multiselect(key="record_engines")
    assert engines.options == engines.value == ["onnxruntime", "torch", "openvino"]
    assert "fusescope runtimes add jax" in texts(page)
    assert any("MindSpore does not read ONNX" in one.value for one in page.caption)
    variants = page.multiselect(key="record_variants")
    assert variants.value == ["onnxruntime:fused", "torch:fused", "openvino:fused"]
    assert {"openvino:latency", "torch:eager", "onnxruntime:unfused"} <= set(variants.options)
    # What belongs to a recording of one engine is not offered.
    assert not [name for name in variants.options if "custom:" in name or "rules:" in name]
    engines.set_value(["onnxruntime", "openvino"]).run()
    variants = page.multiselect(key="record_variants")
    assert variants.value == ["onnxruntime:fused", "openvino:fused"]
    variants.set_value([*variants.value, "openvino:latency"]).run()
    command = (
        "fusescope collect mul_add --runtime onnxruntime,openvino "
        "--variants onnxruntime:fused,openvino:fused,openvino:latency --seconds 60 --batch 1,4"
    )
    page.text_input(key="record_batch").set_value("1, 4").run()
    assert command in texts(page)
    page.text_input(key="record_batch").set_value("").run()
    page.button(key="record_start").click().run()
    assert is_clean(page)
    [job] = asked
    assert (job.runtimes, job.model) == (("onnxruntime", "openvino"), "mul_add")
    assert job.variants == ("onnxruntime:fused", "openvino:fused", "openvino:latency")
    page.button(key="record_cancel").click().run()
    wait()
    page.run()
    # What was chosen is still there, and one engine brings its own variants.
    assert page.multiselect(key="record_engines").value == ["onnxruntime", "openvino"]
    page.segmented_control(key="record_engine").set_value("onnxruntime").run()
    assert page.multiselect(key="record_variants").value == ["unfused", "custom:mul_add", "fused"]
    assert is_clean(page)


def test_several_engines_where_only_one_is_there(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(monkeypatch)
    page = open_page()
    page.selectbox(key="record_model").set_value("mul_add").run()
    page.segmented_control(key="record_engine").set_value("several").run()
    assert is_clean(page) and not asked
    added = [f"fusescope runtimes add {name}" for name in ("torch", "jax", "openvino")]
    assert "\n".join(added) in texts(page)
    assert not [button for button in page.button if button.key == "record_start"]


def test_a_recording_of_several_engines_leads_to_the_page_of_engines(
    open_page: Open, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(job: Recording, **_: Any) -> Path:
        assert job.out is not None
        path = job.out / "two.zip"
        path.write_bytes(two_engines())
        return path

    monkeypatch.setattr(recorder, "RECORDER", recorder.Recorder())
    monkeypatch.setattr(fusescope.collectors.record, "record", record)
    ready(monkeypatch, "openvino")
    page = open_page()
    page.selectbox(key="record_model").set_value("mul_add").run()
    page.segmented_control(key="record_engine").set_value("several").run()
    page.button(key="record_start").click().run()
    wait()
    page.run()
    assert is_clean(page)
    links = [link for link in page.get("page_link") if "engines=" in link.proto.query_string]
    assert [link.proto.label for link in links] == ["All engines in one table"]
    assert "two.zip" in links[0].proto.query_string


def test_an_interval_of_another_level_says_why_beside_those_of_95(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At 95 % the interval of fused would leave 1 out, so it is that of the verdict; eager's is
    the usual one."""
    experiment = cast(Experiment, read_path(places.SAMPLES / "mobilenetv2.zip"))
    verdict = Verdict(
        outcome="cannot_tell",
        reason="within_noise",
        of="unprofiled_wall",
        pairing="blocks",
        speedup=1.02,
        interval=Interval(1.004, 1.04),
        corrected=Interval(0.996, 1.049),
        noise_floor=None,
        smallest_detectable=0.03,
        samples=(8, 8),
        alpha=0.0221,
        shared_by=(3, 4),
    )
    usual = replace(verdict, interval=Interval(0.99, 1.04))
    monkeypatch.setattr(results.records, "record_at", lambda _: experiment.record)
    monkeypatch.setattr(
        results, "paired_verdict", lambda _, __, name: verdict if name == "fused" else usual
    )
    lines = results._verdicts(cast(Status, SimpleNamespace(path=Path("recorded.zip"))))
    [fused] = [line for line in lines if "97.79 %" in line]
    assert "The interval is at a level of 0.022, for all looks and variants together" in fused
    assert all("level" not in line for line in lines if line != fused) and len(lines) > 1


def own_environments(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Environments of the user's that were seen."""

    def seen(runtime: str) -> Any:
        if runtime not in names:
            raise FuseScopeError("runtime_no_such_name", runtime=runtime, engine="", name="")
        return named.Named(
            *runtime.split("@"), "/python", "3.11.7", "", "", "", (), "2", "", "", (), ""
        )  # fmt: skip

    monkeypatch.setattr(named, "ready", seen)
    ready(monkeypatch, *names)
    monkeypatch.setattr(
        named,
        "listed",
        lambda kind="": tuple(
            named.Listed(one, None, None) for one in names if one.startswith(f"{kind}@")
        ),
    )


def test_an_environment_of_ones_own_is_chosen_beside_the_engines(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    own_environments(monkeypatch, "torch@2.12", "torch@nightly")
    page = open_page()
    page.selectbox(key="record_model").set_value("torch:mlp").run()
    page.segmented_control(key="record_engine").set_value("torch@nightly").run()
    assert is_clean(page)
    assert page.multiselect(key="record_variants").value == [
        "eager", "captured", "unfused", "fused",
    ]  # fmt: skip
    assert "fusescope collect net.py:make --runtime torch@nightly" in texts(page)
    page.button(key="record_start").click().run()
    [job] = asked
    assert (job.runtime, job.model, job.runtimes) == ("torch@nightly", "torch:mlp", ())
    page.button(key="record_cancel").click().run()
    wait()
    page.run()
    page.segmented_control(key="record_engine").set_value("several").run()
    assert is_clean(page)
    engines = page.multiselect(key="record_engines")
    assert engines.options == engines.value == ["torch@2.12", "torch@nightly"]
    assert page.multiselect(key="record_variants").value == [
        "torch@2.12:fused", "torch@nightly:fused",
    ]  # fmt: skip
    command = "fusescope collect torch:mlp --runtime torch@2.12,torch@nightly"
    assert any(text.startswith(command) for text in texts(page))
    assert not any("MindSpore does not read" in text for text in texts(page))
    page.button(key="record_start").click().run()
    assert is_clean(page)
    job = asked[-1]
    assert (job.engine, job.runtimes) == ("torch", ("torch@2.12", "torch@nightly"))
    assert job.plan().baseline == "torch@2.12:fused"


def test_an_environment_that_changed_says_what_to_do(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    own_environments(monkeypatch, "torch@nightly")
    page = open_page()
    page.selectbox(key="record_model").set_value("torch:mlp").run()
    page.segmented_control(key="record_engine").set_value("torch@nightly").run()

    def gone(runtime: str) -> Any:
        raise FuseScopeError(
            "runtime_named_broken", where="/python", runtime=runtime, reason="it is gone",
            engine="torch", name="nightly", python="/python",
        )  # fmt: skip

    monkeypatch.setattr(named, "ready", gone)
    ready(monkeypatch)
    page.run()
    assert is_clean(page) and not asked
    assert any("fusescope runtimes use torch --python /python" in text for text in texts(page))
    assert not any("runtimes add torch@nightly" in text for text in texts(page))
    assert not [button for button in page.button if button.key == "record_start"]
