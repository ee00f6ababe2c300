"""Dimensions that the file leaves open: the fused model runs with other sizes, or says which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from fusescope.collectors.fuse import Fused, FuseJob
from fusescope.collectors.fusion import opening
from fusescope.collectors.tasks import fuse
from fusescope.collectors.workers.jobs import PrepareJob
from tests.pattern_models import Builder

Shapes = Mapping[str, tuple[int, ...]]


def written(model: onnx.ModelProto, folder: Path, shapes: Shapes) -> tuple[Fused, Path]:
    """What the worker of `fusescope fuse --out` says, and the file it writes."""
    source, out = folder / "model.in.onnx", folder / "out.onnx"
    source.write_bytes(model.SerializeToString())
    prepare = PrepareJob(
        str(source), str(folder), False, str(folder), 0, None, dict(shapes), None, {}, True
    )
    return fuse.run(FuseJob(prepare, "O3", None, str(out), threads=1)), out


def computed(model: bytes, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    settings = ort.SessionOptions()
    settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    session = ort.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(feeds)))


def agree(model: onnx.ModelProto, out: Path, shapes: Shapes) -> bool:
    """Whether the file computes what the model does; False where the engine refuses only it."""
    chance = np.random.default_rng(3)
    feeds = {name: chance.standard_normal(size).astype("f") for name, size in shapes.items()}
    wanted = computed(model.SerializeToString(), feeds)
    try:
        found = computed(out.read_bytes(), feeds)
    except Exception:  # noqa: BLE001 - the engine raises many kinds
        return False
    pairs = list(zip(wanted, found, strict=True))
    return all(one.shape == other.shape and np.allclose(one, other, 1e-4, 1e-5)
               for one, other in pairs)  # fmt: skip


def open_in(path: Path) -> dict[str, list[int | str]]:
    return {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in onnx.load(path).graph.input
    }


def residual(b: Builder) -> str:
    return b.node("Conv", b.input("n", 4, "h", "w"), b.weight(4, 4, 3, 3), pads=[1] * 4)


def pooled(b: Builder) -> str:
    """Of one size, at one size: the map, and its mean."""
    x = b.input(1, 4, "h", "h")
    return b.node("Add", b.node("Conv", x, b.weight(4, 4, 1, 1)), b.node("GlobalAveragePool", x))


def scaled(b: Builder) -> str:
    """Becomes one value a channel, and the channels are open."""
    return b.node("Add", b.node("Mul", b.input("n", "s", 8), b.number(2)), b.number(1))


def positions(b: Builder) -> str:
    """As where embeddings begin: the positions are those of one sample."""
    total = b.node("Add", b.input("p", 5, 8), b.input("n", 5, 8))
    return b.node("LayerNormalization", total, b.weight(8), b.weight(8))


def biased(b: Builder) -> str:
    """An input that is broadcast to the product, or the product to it."""
    return b.node("Add", b.node("MatMul", b.input("m", 4), b.weight(4, 6)), b.input("k", 6))


def turned(b: Builder) -> str:
    """Two names for one size: the model runs with neither alone."""
    y = b.node("MatMul", b.input(3, "a"), b.input("b", 5))
    return b.node("Relu", y)


def reshaped(b: Builder) -> str:
    """Runs with the size of its Reshape alone."""
    return b.node("Relu", b.node("MatMul", b.node("Reshape", b.input("s", 2), b.integers(3, 4)),
                                 b.weight(4, 2)))  # fmt: skip


def unnamed(b: Builder) -> str:
    """First dimensions without names, which change together."""
    x, y = b.input("", 4), b.input("", 6)
    return b.node("Relu", b.node("Add", b.node("MatMul", x, b.weight(4, 6)), y))


@pytest.mark.parametrize(
    ("build", "shapes", "others", "left_open", "said"),
    [
        (residual, {"in0": (1, 4, 6, 6)}, {"in0": (3, 4, 5, 9)}, [["n", 4, "h", "w"]], ""),
        (pooled, {"in0": (1, 4, 1, 1)}, {"in0": (1, 4, 6, 6)}, [[1, 4, 1, 1]],
         "h = 1 (with 2 the engine says"),
        (scaled, {"in0": (1, 6, 8)}, {"in0": (1, 9, 8)}, [["n", 6, 8]],
         "s = 6 (with 12 the engine says"),
        (positions, {"in0": (1, 5, 8), "in1": (1, 5, 8)}, {"in0": (1, 5, 8), "in1": (3, 5, 8)},
         [["p", 5, 8], [1, 5, 8]], "n = 1 (with 2 the results differ)"),
        (biased, {"in0": (1, 4), "in1": (1, 6)}, {"in0": (1, 4), "in1": (3, 6)},
         [["m", 4], [1, 6]], "k = 1 (with 2 the engine says"),
        (turned, {"in0": (3, 4), "in1": (4, 5)}, {"in0": (3, 7), "in1": (7, 5)},
         [[3, "a"], ["b", 5]], ""),
        (reshaped, {"in0": (6, 2)}, None, [[6, 2]], f"s = 6 ({opening.UNTRIED})"),
        (unnamed, {"in0": (2, 4), "in1": (2, 6)}, {"in0": (5, 4), "in1": (5, 6)},
         [[0, 4], [0, 6]], ""),
    ],
)  # fmt: skip
def test_what_stays_open_is_right_and_what_does_not_is_told(
    build: Callable[[Builder], str],
    shapes: Shapes,
    others: Shapes | None,
    left_open: list[list[int | str]],
    said: str,
    tmp_path: Path,
) -> None:
    b = Builder()
    model = b.model(build(b))
    done, out = written(model, tmp_path, shapes)
    assert done.fixed_shapes.startswith(said) and bool(done.fixed_shapes) == bool(said)
    assert list(open_in(out).values()) == left_open
    assert agree(model, out, shapes)
    if others is not None:
        assert agree(model, out, others) is not bool(said)


def test_outputs_have_the_names_of_what_stays_open(tmp_path: Path) -> None:
    b = Builder()
    model = b.model(scaled(b))
    model.graph.output[0].CopyFrom(
        helper.make_tensor_value_info(model.graph.output[0].name, TensorProto.FLOAT, ["n", "s", 8])
    )
    _, out = written(model, tmp_path, {"in0": (1, 6, 8)})
    [output] = onnx.load(out).graph.output
    sizes = [dim.dim_param or dim.dim_value for dim in output.type.tensor_type.shape.dim]
    assert sizes == ["n", 6, 8]
    onnx.checker.check_model(onnx.load(out), full_check=True)


def test_an_input_without_a_shape_gets_the_one_that_ran(tmp_path: Path) -> None:
    b = Builder()
    model = b.model(residual(b))
    model.graph.input[0].type.tensor_type.ClearField("shape")
    done, out = written(model, tmp_path, {"in0": (2, 4, 6, 6)})
    assert done.fixed_shapes == "the shape of in0 (the model declares none)"
    assert open_in(out) == {"in0": [2, 4, 6, 6]}


def test_names_twice_are_no_reason_to_fix_anything(tmp_path: Path) -> None:
    b = Builder()
    model = b.model(b.node("Relu", residual(b)))
    for node in model.graph.node:
        node.name = "same"
    done, out = written(model, tmp_path, {"in0": (1, 4, 6, 6)})
    assert done.fixed_shapes == ""
    assert open_in(out) == {"in0": ["n", 4, "h", "w"]}


def test_a_model_that_runs_with_fixed_shapes_alone_is_written_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("[ONNXRuntimeError] : 1 : FAIL : no open shapes here")

    monkeypatch.setattr(opening, "_session", refuse)
    b = Builder()
    done, out = written(b.model(residual(b)), tmp_path, {"in0": (1, 4, 6, 6)})
    said = "n = 1, h = 6, w = 6 (with open dimensions the engine says: no open shapes here)"
    assert done.fixed_shapes == said
    assert open_in(out) == {"in0": [1, 4, 6, 6]}


def test_results_without_finite_numbers_show_nothing(tmp_path: Path) -> None:
    b = Builder()
    x = b.input("n", 8)
    model = b.model(b.node("Div", x, b.node("Sub", x, x)))
    done, out = written(model, tmp_path, {"in0": (2, 8)})
    assert done.fixed_shapes == f"n = 2 ({opening.UNTRIED})"
    assert open_in(out) == {"in0": [2, 8]}
