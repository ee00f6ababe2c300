"""Agreement with the baseline's classes: where a model scores any, ranks, and what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.collectors.models.array import Array
from fusescope.collectors.runtimes.onnxruntime import GraphSession
from fusescope.collectors.tensors import agreement, feeds
from fusescope.collectors.tensors.agreement import (
    NoScores,
    keep_classes,
    ranks_of,
    scores_classes,
    with_classes,
)
from fusescope.collectors.workers.jobs import Drawing, SessionSettings


def graph(*ops: str, made: tuple[int, ...] = (2, 10), group: int = 1) -> Graph:
    """A chain of these operators; each writes t1, t2, … of the shape `made`."""
    nodes = tuple(
        Node(
            f"n{place}",
            op,
            (f"t{place}", *(["w"] if op in ("Gemm", "MatMul", "Conv", "Add") else [])),
            (f"t{place + 1}",),
            attributes={"group": group} if op == "Conv" else {},
        )
        for place, op in enumerate(ops)
    )
    tensors = tuple(Tensor(node.outputs[0], "float32", made) for node in nodes)
    return Graph(nodes, tensors, ("t0",), (f"t{len(ops)}",))


MAP = (2, 10, 4, 4)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (graph("Relu", "Gemm"), (2, 10)),
        (graph("Gemm", "Softmax"), (2, 10)),
        (graph("MatMul", "Add", "Cast"), (2, 10)),
        (graph("Conv", "Resize", made=MAP), (2, 10, 16, 16)),
        (graph("Conv", "Relu", "GlobalAveragePool", "Flatten", made=MAP), (2, 10)),
    ],
)
def test_scores_are_found(model: Graph, shape: tuple[int, ...]) -> None:
    assert scores_classes(model, 0, shape)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (graph("Gemm"), (2, 4)),  # fewer classes than five
        (graph("Gemm"), (10,)),
        (graph("MatMul"), (2, 7, 10)),  # a sequence: classes are not along axis 1
        (graph("Conv", "Relu", made=MAP), MAP),  # a feature map
        (graph("Conv", "BatchNormalization", made=MAP), MAP),
        (graph("Conv", made=MAP, group=10), MAP),  # depthwise
        (graph("Mul", "Add"), MAP),
        (graph("Conv", "Flatten", made=MAP), (2, 160)),  # positions among the classes
        (graph("Conv", "Reshape", made=MAP), (2, 10, 16)),
    ],
)
def test_features_are_no_scores(model: Graph, shape: tuple[int, ...]) -> None:
    assert not scores_classes(model, 0, shape)


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 8), st.booleans())
def test_ranks_are_those_of_a_stable_sort(seed: int, rows: int, classes: int, flat: bool) -> None:
    chance = np.random.default_rng(seed)
    shape = (rows, classes) if flat else (rows, classes, 2, 3)
    scores = chance.integers(0, 4, shape).astype(np.float32)  # equal ones are frequent
    best = chance.integers(0, classes, (rows, *shape[2:]))
    order = np.argsort(-scores, axis=1, kind="stable")
    expected = np.argmax(order == best[:, np.newaxis], axis=1)
    assert np.array_equal(ranks_of(best, scores), expected)
    assert (ranks_of(np.argmax(scores, axis=1), scores) == 0).all()


class Fake:
    """A session whose scores are its input, times `factor`, rolled by `shift` classes."""

    def __init__(self, shift: int = 0, bad: bool = False) -> None:
        self._shift, self._bad = shift, bad
        self._scores = np.zeros((2, 10), np.float32)
        self.fed: list[Array] = []

    def feed(self, values: Mapping[str, Array]) -> None:
        self.fed.append(values["t0"])
        self._scores = np.roll(values["t0"], self._shift, axis=1).astype(np.float32)
        if self._bad:
            self._scores[0, 0] = np.nan

    def run(self) -> None: ...

    def outputs(self) -> list[Array | None]:
        return [self._scores]

    def end_profiling(self, to: Path) -> None: ...


@pytest.fixture
def settings(tmp_path: Path) -> SessionSettings:
    recorded = np.random.default_rng([0, 0]).standard_normal((2, 10), dtype=np.float32)
    np.savez(tmp_path / "inputs.npz", recorded)
    return SessionSettings(
        "", str(tmp_path / "inputs.npz"), ("t0",), 1, False, drawing=Drawing(batch=2)
    )


def test_the_same_classes_agree_and_others_do_not(
    settings: SessionSettings, tmp_path: Path
) -> None:
    file = tmp_path / "classes.npz"
    baseline = Fake()
    keep_classes(baseline, settings, graph("Gemm"), file, seconds=60.0)
    same = with_classes(Fake(), settings, graph("Gemm"), file, seconds=60.0)
    assert same is not None
    assert (same.output, same.classes, same.top1, same.top5) == ("t1", 10, 1.0, 1.0)
    assert (same.samples, same.positions) == (feeds.SAMPLES, feeds.SAMPLES)
    chosen = [int(c) for scores in baseline.fed for c in np.argmax(scores, axis=1)]
    assert same.distinct == len(set(chosen)) > 1
    rolled = with_classes(Fake(shift=1), settings, graph("Gemm"), file, seconds=60.0)
    assert rolled is not None
    near = 0
    for scores in baseline.fed:
        for row in scores:
            moved = np.roll(row, 1)
            near += int((moved > moved[np.argmax(row)]).sum() < 5)
    assert rolled.top1 == 0.0
    assert rolled.top5 == near / feeds.SAMPLES


def test_five_classes_have_no_top5(settings: SessionSettings, tmp_path: Path) -> None:
    file = tmp_path / "classes.npz"
    np.savez(tmp_path / "five.npz", np.zeros((2, 5), np.float32))
    five = msgspec.structs.replace(settings, inputs=str(tmp_path / "five.npz"))
    model = graph("Gemm", made=(2, 5))
    baseline = Fake()
    baseline._scores = np.zeros((2, 5), np.float32)
    keep_classes(baseline, five, model, file, seconds=60.0)
    found = with_classes(Fake(), five, model, file, seconds=60.0)
    assert found is not None
    assert found.top5 is None


def test_one_sample_is_tried_when_there_is_no_time(
    settings: SessionSettings, tmp_path: Path
) -> None:
    file = tmp_path / "classes.npz"
    keep_classes(Fake(), settings, graph("Gemm"), file, seconds=-1.0)
    found = with_classes(Fake(), settings, graph("Gemm"), file, seconds=60.0)
    assert found is not None
    assert found.samples == settings.drawing.batch


def test_scores_that_are_not_finite_do_not_agree(settings: SessionSettings, tmp_path: Path) -> None:
    file = tmp_path / "classes.npz"
    keep_classes(Fake(), settings, graph("Gemm"), file, seconds=60.0)
    with pytest.raises(NoScores):
        with_classes(Fake(bad=True), settings, graph("Gemm"), file, seconds=60.0)


def test_a_model_without_scores_keeps_nothing(settings: SessionSettings, tmp_path: Path) -> None:
    file = tmp_path / "classes.npz"
    keep_classes(Fake(), settings, graph("Mul"), file, seconds=60.0)
    assert not file.exists()
    assert with_classes(Fake(), settings, graph("Mul"), file, seconds=60.0) is None


def test_feeds_are_no_recorded_input_and_of_one_purpose(settings: SessionSettings) -> None:
    with np.load(settings.inputs) as archive:
        drawn = [archive["arr_0"]]
    for place in range(3):
        drawn.append(feeds.draw(settings, "calibration", place)["t0"])
        drawn.append(feeds.draw(settings, "agreement", place)["t0"])
    assert len({array.tobytes() for array in drawn}) == 7
    again = feeds.draw(settings, "agreement", 2)["t0"]
    assert again.tobytes() == drawn[-1].tobytes()
    other = msgspec.structs.replace(settings, drawing=Drawing(seed=1, batch=2))
    assert feeds.draw(other, "agreement", 2)["t0"].tobytes() != again.tobytes()


def test_feeds_keep_to_a_range_and_to_a_file(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    image = chance.uniform(100, 255, (1, 3, 32, 32)).astype(np.float32)
    ids = np.array([[7, 11, 13, 7]], np.int64)
    np.savez(tmp_path / "inputs.npz", image, ids, np.zeros((4,), np.float32))
    settings = SessionSettings(
        "",
        str(tmp_path / "inputs.npz"),
        ("image", "ids", "scale"),
        1,
        False,
        drawing=Drawing(ranges={"scale": (3.0, 4.0)}, from_file=("image", "ids")),
    )
    drawn = feeds.draw(settings, "calibration", 0)
    assert drawn["image"].dtype == np.float32
    assert image.min() <= drawn["image"].min() < drawn["image"].max() <= image.max()
    assert abs(drawn["image"].mean() - image.mean()) < image.std()
    assert drawn["ids"].size and set(drawn["ids"].flat) <= {7, 11, 13}
    assert drawn["ids"].dtype == np.int64
    assert drawn["scale"].size and ((drawn["scale"] >= 3) & (drawn["scale"] <= 4)).all()
    assert "file" in feeds.told(settings)


def test_a_session_computes_on_what_it_is_fed(
    save_model: Callable[..., Path], tmp_path: Path
) -> None:
    nodes = [onnx.helper.make_node("Add", ["x", "x"], ["y"], name="double")]
    path = save_model(nodes, {"x": ("float32", [2, 3])}, ["y"])
    np.savez(tmp_path / "inputs.npz", np.ones((2, 3), np.float32))
    session = GraphSession(
        SessionSettings(str(path), str(tmp_path / "inputs.npz"), ("x",), 1, False), "none"
    )
    session.feed({"x": np.full((2, 3), 5, np.float32)})
    session.run()
    assert np.array_equal(session.outputs()[0], np.full((2, 3), 10, np.float32))


def test_the_predicate_reads_no_longer_than_it_must() -> None:
    deep = graph("Gemm", *["Identity"] * (agreement._MAX_BEHIND + 1))
    assert not scores_classes(deep, 0, (2, 10))
