"""Models of one's own that are dropped or chosen in the browser, and recorded without a restart."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.parts.upload import large
from fusescope.app.recording import own_models
from fusescope.app.server import sent_models
from fusescope.app.server.sent_models import MAX_MODELS, SentModels
from fusescope.app.server.spool import Received
from fusescope.app.sources import places
from fusescope.collectors.models import model as models
from fusescope.collectors.record import Recording
from tests.app.pages import headline, is_clean, texts
from tests.app.test_record_page import asked, open_page  # noqa: F401
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json

Start = Callable[..., AppTest]
Open = Callable[[], AppTest]
BEFORE = profile_json(UNFUSED_OPERATORS, runs=6)
AFTER = profile_json(FUSED_OPERATORS, runs=6)
WEIGHTS = np.arange(4, dtype=np.float32)


def onnx_model(location: str = "") -> bytes:
    """A model that adds four weights, which lie in the file at `location` if there is one."""
    helper = onnx.helper
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4])
    out = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4])
    weights = onnx.numpy_helper.from_array(WEIGHTS, "w")
    if location:
        weights.ClearField("raw_data")
        weights.data_location = onnx.TensorProto.EXTERNAL
        weights.external_data.add(key="location", value=location)
    node = helper.make_node("Add", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "net", [value], [out], [weights])
    data: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return data


@pytest.fixture(autouse=True)
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SentModels]:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    made = SentModels()
    for module in (own_models, "fusescope.app.parts.upload.models"):
        target = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{target}.MODELS", made)
    yield made
    made.close()
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.fixture(autouse=True)
def no_folder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dashboard was started without `--folder`."""
    monkeypatch.delenv(places.FOLDERS_VARIABLE)


def drop(page: AppTest, **files: bytes) -> AppTest:
    page.file_uploader[0].set_value(
        [(n.replace("__", "."), d, "application/octet-stream") for n, d in files.items()]
    )
    return page.run()


def weights_of(path: str | Path, *, allowed: bool) -> list[float]:
    loaded, _ = models.load(Path(path), allow_external_data=allowed)
    return [float(x) for x in onnx.numpy_helper.to_array(loaded.graph.initializer[0])]


def test_a_model_is_chosen_on_the_page_and_recorded(
    open_page: Open,  # noqa: F811
    asked: list[Recording],  # noqa: F811
) -> None:
    page = drop(open_page(), net__onnx=onnx_model())
    assert is_clean(page)
    model = page.selectbox(key="record_model")
    assert model.value == "sent:1/net.onnx" and "net.onnx" in model.options[0] + model.options[-1]
    assert page.multiselect(key="record_variants").value == ["eager", "unfused", "fused"]
    page.button(key="record_start").click().run()
    assert is_clean(page)
    [job] = asked
    assert Path(job.model).name == "net.onnx" and job.runtime == "onnxruntime"
    assert weights_of(job.model, allowed=False) == [0, 1, 2, 3]


def test_weights_beside_a_model_come_with_it(
    open_page: Open,  # noqa: F811
    asked: list[Recording],  # noqa: F811
) -> None:
    files = {"net__onnx": onnx_model("net.onnx.data"), "net__onnx__data": WEIGHTS.tobytes()}
    page = drop(open_page(), **files)
    page.button(key="record_start").click().run()
    [job] = asked
    assert job.allow_external_data
    assert weights_of(job.model, allowed=True) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("missing.bin", "data_missing"),
        ("../secret.bin", "data_outside"),
        ("link/secret.bin", "data_missing"),
        ("/etc/hostname", "data_not_a_name"),
    ],
)
def test_a_model_reads_nothing_but_what_was_sent_with_it(
    sent: SentModels, location: str, code: str
) -> None:
    """Another model's weights are beside its folder, never inside."""
    [other] = sent.put([sent_models.Sent("secret.onnx", b"x")])
    found = sent.path(other)
    assert found is not None
    (found.parent.parent / "secret.bin").write_bytes(WEIGHTS.tobytes())
    [name] = sent.put([sent_models.Sent("net.onnx", onnx_model(location))])
    path = sent.path(name)
    assert path is not None and path.parent.stat().st_mode & 0o077 == 0
    with pytest.raises(FuseScopeError) as refused:
        weights_of(path, allowed=True)
    assert refused.value.code == code


def test_a_model_that_is_dropped_on_start_leads_to_record(land: Start) -> None:
    files = {"net__onnx": onnx_model("net.onnx.data"), "net__onnx__data": WEIGHTS.tobytes()}
    page = drop(land(), **files)
    assert is_clean(page) and page.header[0].value == "Record a model"
    assert page.selectbox(key="record_model").value == "sent:1/net.onnx"


def test_a_model_beside_traces_is_said_and_listed_on_record(land: Start) -> None:
    page = drop(land(), net__onnx=onnx_model(), before__json=BEFORE, after__json=AFTER)
    assert "after.json" in headline(page)
    assert "net.onnx is a model. The page Record can record it." in texts(page)
    page._page_hash = calc_hash("record")
    page.run()
    assert any("net.onnx" in option for option in page.selectbox(key="record_model").options)


def test_a_model_by_the_button_for_larger_files(
    land: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spooled"
    path.write_bytes(onnx_model())
    waiting = [Received(path, "net.onnx")]

    def received() -> list[Received]:
        found, waiting[:] = list(waiting), []
        return found

    monkeypatch.setattr(large, "received", received)
    page = land()
    assert is_clean(page) and page.header[0].value == "Record a model"
    assert not path.exists(), "it goes from where it waited"


def test_where_nothing_can_be_recorded_a_model_is_a_sentence(
    land: Start, answers_others: None
) -> None:
    page = drop(land(), net__onnx=onnx_model())
    assert is_clean(page)
    assert "Record it with: fusescope collect net.onnx" in " ".join(texts(page))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"weights__bin": b"x"}, "No file here is an ONNX model"),
        ({"a:b__onnx": b"x"}, "cannot be the name of a model"),
        ({"torch__onnx": b"x", "__hidden__data": b"x"}, "cannot be the name of a model"),
    ],
)
def test_what_cannot_be_a_model_is_a_sentence(
    open_page: Open,  # noqa: F811
    sent: SentModels,
    files: dict[str, bytes],
    said: str,
) -> None:
    page = drop(open_page(), **files)
    assert is_clean(page)
    assert "This model cannot be recorded." in [error.value for error in page.error]
    assert said in " ".join(texts(page)) and not sent.found()


def test_a_full_disk_is_a_sentence_and_leaves_nothing(
    sent: SentModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    large_file = tmp_path / "spooled"
    large_file.write_bytes(onnx_model())
    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(FuseScopeError, match="no space left"):
        sent.put([sent_models.Sent("a.onnx", b"x"), sent_models.Sent("b.onnx", large_file)])
    assert not sent.found() and not list((tmp_path / "tmp").rglob("*.onnx"))


def test_two_files_of_one_name_are_refused(sent: SentModels) -> None:
    with pytest.raises(FuseScopeError):
        sent.put([sent_models.Sent("a.onnx", b"x"), sent_models.Sent("a.onnx", b"y")])
    assert not sent.found()


def test_the_models_that_came_first_go(sent: SentModels) -> None:
    for number in range(MAX_MODELS + 2):
        sent.put([sent_models.Sent(f"{number}.onnx", bytes(number + 1))])
    assert list(sent.found()) == [f"{n + 1}/{n}.onnx" for n in reversed(range(2, MAX_MODELS + 2))]
    assert sent.found()["3/2.onnx"] == 3 and sent.path("1/0.onnx") is None


def test_names_that_nobody_sent_lead_nowhere(sent: SentModels) -> None:
    sent.put([sent_models.Sent("a.onnx", b"x")])
    for name in ("../1/a.onnx", "1/../1/a.onnx", "", "1", "2/a.onnx"):
        assert sent.path(name) is None
        with pytest.raises(FuseScopeError):
            own_models.path_of(f"{own_models.SENT}{name}")
