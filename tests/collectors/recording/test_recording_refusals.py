"""Whatever is wrong, the user reads one sentence and nothing is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.record import Recording
from tests.collectors.short_recordings import run, short

GIGABYTE = 10**9


def refusal(recording: Recording) -> str:
    """The sentence; checks that it is one line and that the output folder stays empty."""
    with pytest.raises(FuseScopeError) as told:
        run(recording)
    assert recording.out is not None
    folder = recording.out if recording.out.is_dir() else recording.out.parent
    assert list(folder.glob("*.zip*")) == []
    text = told.value.text
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) < 600
    return text


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def relu(save_model: Callable[..., Path], name: str = "model") -> Path:
    return save_model(
        [helper.make_node("Relu", ["x"], ["y"], name="r")], {"x": ("float32", [1, 4])}, ["y"],
        name=name,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"variants": ("unfused", "fuse")}, "Did you mean 'fused'?"),
        ({"variants": ()}, "No variant"),
        ({"variants": ("fused", "fused")}, "given twice"),
        (
            {
                "variants": ("rules:a.toml", "rules:A.toml"),
                "rules": {"rules:a.toml": "", "rules:A.toml": ""},
            },
            "given twice",
        ),
        ({"baseline": "eager", "variants": ("fused",)}, "not among the variants"),
        ({"rounds": 0}, "--rounds cannot be 0"),
        ({"blocks": 0}, "--blocks cannot be 0"),
        ({"threads": -1}, "--threads cannot be -1"),
        ({"batch": 0}, "--batch cannot be 0"),
        ({"seed": -1}, "--seed cannot be -1"),
        ({"seconds": 0.0}, "--seconds cannot be 0"),
        ({"seconds": float("nan")}, "--seconds cannot be nan"),
        ({"shapes": {"input": (1, 0)}}, "dimension below 1"),
        ({"input_ranges": {"input": (2.0, 1.0)}}, "not a range"),
        ({"inputs": Path("nowhere.npz")}, "does not exist"),
    ],
)
def test_impossible_requests(out: Path, changes: dict[str, Any], expected: str) -> None:
    assert expected in refusal(short("mul_add", out, **changes))


def test_unknown_zoo_name_suggests_the_nearest(out: Path) -> None:
    assert "Did you mean 'mobilenetv2'?" in refusal(short("mobilenet_v2", out))


def test_a_folder_is_no_model(out: Path, tmp_path: Path) -> None:
    assert "is a folder" in refusal(short(tmp_path, out))


def test_an_unwritable_folder_is_found_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    text = refusal(short("mul_add", tmp_path / "file" / "x.zip"))
    assert "output folder cannot be written to" in text
    assert "output folder cannot be written to" in refusal(
        short("mul_add", tmp_path / "missing" / "x.zip")
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a read-only folder")
def test_a_read_only_folder(out: Path) -> None:
    out.chmod(0o500)
    assert "permission denied" in refusal(short("mul_add", out))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\x00garbage" * 50, "not an ONNX model"),
        (b"\x89PNG\r\n\x1a\n" + b"0" * 64, "not an ONNX model"),
    ],
)
def test_garbage_is_no_model(out: Path, tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert said in refusal(short(path, out))


def test_a_truncated_model(out: Path, save_model: Callable[..., Path]) -> None:
    path = relu(save_model)
    path.write_bytes(path.read_bytes()[:-20])
    assert "cut short" in refusal(short(path, out))


@pytest.mark.parametrize("variants", [("eager",), ("unfused",), ("fused",)])
def test_a_model_that_asks_for_a_terabyte(
    out: Path, save_model: Callable[..., Path], variants: tuple[str, ...]
) -> None:
    path = save_model(
        [
            helper.make_node("ConstantOfShape", ["shape"], ["big"], name="c"),
            helper.make_node("Add", ["big", "x"], ["y"], name="a"),
        ],
        {"x": ("float32", [1])},
        ["y"],
        {"shape": np.array([1 << 38], np.int64)},
    )
    recording = short(path, out, variants=variants, memory_bytes=4 * GIGABYTE)
    assert "more memory than the limit of 4 GB" in refusal(recording)


def test_a_loop_that_never_ends(out: Path, save_model: Callable[..., Path]) -> None:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Add", ["state", "state"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("step", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [1]),
        ],
    )
    path = save_model(
        [helper.make_node("Loop", ["", "true", "x"], ["y"], name="loop", body=body)],
        {"x": ("float32", [1])},
        ["y"],
        {"true": np.array(True)},
    )
    recording = short(path, out, variants=("unfused",), run_timeout=1.5)
    assert "did not finish within 1.5 s" in refusal(recording)


def test_an_operator_that_does_not_exist(out: Path, save_model: Callable[..., Path]) -> None:
    path = save_model(
        [helper.make_node("Foo", ["x"], ["y"], name="f", domain="acme")],
        {"x": ("float32", [1])},
        ["y"],
    )
    model = onnx.load(path)
    model.opset_import.append(helper.make_opsetid("acme", 1))
    onnx.save(model, path)
    assert "not have the operator acme:Foo" in refusal(short(path, out))


def test_a_variant_in_which_nothing_is_left_to_run(
    out: Path, save_model: Callable[..., Path]
) -> None:
    """The output depends on no input, so every optimised graph is empty."""
    path = save_model(
        [
            helper.make_node("Add", ["a", "b"], ["s"], name="a"),
            helper.make_node("Relu", ["s"], ["y"], name="r"),
        ],
        {"x": ("float32", [1])},
        ["y"],
        {"a": np.ones(4, np.float32), "b": np.ones(4, np.float32)},
    )
    text = refusal(short(path, out))
    assert "Variant 'fused' has no operator left: the engine computes this model's result" in text
    assert "Leave fused out of the variants" in text
    file, _ = run(short(path, out, variants=("eager", "unfused")))
    assert [variant.nodes for variant in file.record.variants] == [2, 2]


def test_hostile_text_is_cleaned(out: Path, save_model: Callable[..., Path]) -> None:
    path = save_model(
        [helper.make_node("Relu\x1b[31m\n" + "z" * 5000, ["x"], ["y"], name="r\x07")],
        {"x": ("float32", [1])},
        ["y"],
    )
    text = refusal(short(path, out))
    assert text.isprintable()


def external(path: Path, location: str, length: int = 16) -> None:
    """Gives the model a weight that lies in another file."""
    model = onnx.load(path)
    tensor = model.graph.initializer.add()
    tensor.name, tensor.data_type = "w", TensorProto.FLOAT
    tensor.dims.append(4)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    tensor.external_data.add(key="length", value=str(length))
    model.graph.node[0].op_type = "Add"
    model.graph.node[0].input.append("w")
    path.write_bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("missing.bin", "missing or cannot be read"),
        ("../secret.bin", "outside the model's folder"),
        ("link.bin", "outside the model's folder"),
        ("inner/../../secret.bin", "outside the model's folder"),
        ("/etc/hostname", "not the name of a file in"),
        ("hard.bin", "second name"),
        ("pipe", "not a regular file"),
        ("short.bin", "fewer than the model needs"),
        ("", "not the name of a file in"),
    ],
)
def test_external_data_that_is_refused(
    out: Path, tmp_path: Path, save_model: Callable[..., Path], location: str, expected: str
) -> None:
    path = relu(save_model)
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (path.parent / "link.bin").symlink_to(tmp_path / "secret.bin")
    (path.parent / "original.bin").write_bytes(bytes(16))
    os.link(path.parent / "original.bin", path.parent / "hard.bin")
    os.mkfifo(path.parent / "pipe")
    (path.parent / "short.bin").write_bytes(bytes(8))
    external(path, location)
    assert expected in refusal(short(path, out))


@pytest.mark.parametrize("place", ["attribute", "subgraph", "sparse", "function"])
def test_external_data_is_found_wherever_it_hides(
    out: Path, save_model: Callable[..., Path], place: str
) -> None:
    hidden = TensorProto(name="h", data_type=TensorProto.FLOAT, dims=[4])
    hidden.data_location = TensorProto.EXTERNAL
    hidden.external_data.add(key="location", value="../secret.bin")
    constant = helper.make_node("Constant", [], ["k"], name="k")
    constant.attribute.append(helper.make_attribute("value", hidden))
    path = relu(save_model)
    model = onnx.load(path)
    match place:
        case "attribute":
            model.graph.node.append(constant)
        case "subgraph":
            body = helper.make_graph([constant], "then", [], [onnx.ValueInfoProto(name="k")])
            model.graph.node.append(
                helper.make_node("If", ["c"], ["z"], name="if", then_branch=body, else_branch=body)
            )
        case "sparse":
            sparse = model.graph.sparse_initializer.add()
            sparse.values.CopyFrom(hidden)
        case "function":
            model.functions.append(
                helper.make_function("f", "F", [], ["k"], [constant], model.opset_import)
            )
    path.write_bytes(model.SerializeToString())
    assert "outside the model's folder" in refusal(short(path, out))


def test_external_data_inside_the_folder_is_read_but_never_from_the_browser(
    out: Path, save_model: Callable[..., Path]
) -> None:
    path = relu(save_model)
    (path.parent / "weights.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    external(path, "weights.bin")
    refused = short(path, out, variants=("unfused",), allow_external_data=False)
    assert "not allowed from the browser" in refusal(refused)
    file, _ = run(short(path, out, variants=("unfused", "eager")))
    before = file.record.model.sha256
    (path.parent / "weights.bin").write_bytes(np.ones(4, dtype=np.float32).tobytes())
    file, _ = run(short(path, out, variants=("unfused",)))
    assert file.record.model.sha256 != before


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"x": np.array([object()])}, "contains Python objects"),
        ({"x": np.zeros((1, 5), np.float32)}, "the shape [1, 5], the model takes [1, 4]"),
        ({"x": np.zeros((4,), np.float32)}, "the shape [4], the model takes [1, 4]"),
        ({"x": np.zeros((1, 4), np.float64)}, "as float64, the model takes float32"),
        ({"y": np.zeros((1, 4), np.float32)}, "no input 'y'"),
    ],
)
def test_input_files_that_do_not_fit(
    out: Path,
    tmp_path: Path,
    save_model: Callable[..., Path],
    arrays: dict[str, Any],
    expected: str,
) -> None:
    np.savez(tmp_path / "in.npz", **arrays)
    assert expected in refusal(short(relu(save_model), out, inputs=tmp_path / "in.npz"))


def test_an_input_file_that_is_none(
    out: Path, tmp_path: Path, save_model: Callable[..., Path]
) -> None:
    (tmp_path / "in.npz").write_bytes(b"PK\x03\x04 no zip")
    assert "npz" in refusal(short(relu(save_model), out, inputs=tmp_path / "in.npz"))
