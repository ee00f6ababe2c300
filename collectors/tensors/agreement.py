"""Agreement: whether a variant chooses the classes that the baseline chooses. Not accuracy.

Both run on the same further inputs (collectors/tensors/feeds.py), in processes of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from fusescope.analysis.experiment import Agreement
from fusescope.analysis.graph import Graph, Node, parse_graph
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors import feeds
from fusescope.collectors.workers.jobs import CheckJob, SessionSettings

MIN_CLASSES = 5
NEAR = 5  # classes of the variant that the baseline's may be among
_SCORING = {"Gemm", "MatMul", "Conv"}
# What may stand between the scores and the output: it leaves the order of the classes as it is,
# or works on each class alone.
_BEHIND = {
    "Add", "Softmax", "LogSoftmax", "Sigmoid", "Relu", "Cast", "Identity", "Dropout",
    "GlobalAveragePool", "AveragePool", "ReduceMean", "Resize", "Upsample",
    "QuantizeLinear", "DequantizeLinear",
}  # fmt: skip
_RESHAPING = {"Reshape", "Flatten", "Squeeze"}
_MAX_BEHIND = 12
_FEATURES = {"Relu"}  # a model that ends with it hands out features, no scores

Classes = npt.NDArray[np.int64]
Scores = npt.NDArray[np.floating]


class Fed(Protocol):
    """A session of any engine that can be given other inputs."""

    def feed(self, values: Mapping[str, Array]) -> None:
        """Puts other values of the same type and shape in place of these inputs."""
        ...

    def run(self) -> None:
        """One run of the whole model."""
        ...

    def outputs(self) -> list[Array | None]:
        """The model's outputs of the latest run; None for what numpy cannot hold."""
        ...


class NoScores(Exception):
    """The outputs cannot be ranked: some are not finite, or no samples could be tried."""


def scores_classes(graph: Graph, index: int, shape: Sequence[int]) -> bool:
    """Whether the output at `place`, which ran with that shape, scores classes along axis 1.

    So it is where all of these hold: it has at least 5 classes, [N, C] or [N, C, …]; it comes from
    a matrix product (of [N, C]) or from a convolution that is not grouped, and C is what that
    makes for each row or position; there is nothing between but an added constant, Softmax,
    LogSoftmax, Sigmoid, Relu, pooling, resizing, changes of dtype and, of [N, C], of shape; and it
    is no Relu's own result, which would be a feature map.
    """
    if len(shape) < 2 or shape[1] < MIN_CLASSES:
        return False
    name = graph.outputs[index]
    for behind in range(_MAX_BEHIND + 1):
        node = graph.producer.get(name)
        if node is None or (behind == 0 and node.op_type in _FEATURES):
            return False
        if node.op_type in _SCORING:
            return _makes(node, graph, name, shape)
        moved = node.op_type in _RESHAPING and len(shape) == 2
        if node.op_type not in _BEHIND and not moved:
            return False
        made = [i for i in node.inputs if i in graph.producer]
        if node.op_type == "Add" and len(made) != 1:
            return False
        if not made or (node.op_type != "Add" and made[0] != node.inputs[0]):
            return False
        name = made[0]
    return False


def _makes(node: Node, graph: Graph, name: str, shape: Sequence[int]) -> bool:
    """Whether the node makes a score for each class, in its result `name`."""
    tensor = graph.tensor.get(name)
    made = tensor.shape if tensor is not None and tensor.shape else None
    if node.op_type == "Conv":
        ungrouped = node.attributes.get("group", 1) == 1
        return ungrouped and made is not None and len(made) > 2 and made[1] == shape[1]
    return len(shape) == 2 and (made is None or made[-1] == shape[1])


def keep_classes(
    session: Fed, settings: SessionSettings, graph: Graph, file: Path, *, seconds: float
) -> None:
    """Writes the classes that the baseline chooses, where it scores any. Raises NoScores."""
    index = _scoring_output(graph, session.outputs())
    if index is None:
        return
    chosen: dict[str, Array] = {}
    for number, scores in _scored(session, settings, index, feeds.count(settings), seconds):
        chosen[f"sample_{number}"] = np.argmax(scores, axis=1)
    np.savez(file, allow_pickle=False, index=np.array(index), **chosen)


def with_classes(
    session: Fed, settings: SessionSettings, graph: Graph, file: Path, *, seconds: float
) -> Agreement | None:
    """How far the variant chooses the classes in the file, None where there is none.

    Raises NoScores.
    """
    if not file.is_file():
        return None
    with np.load(file, allow_pickle=False) as archive:
        index = int(archive["index"])
        chosen: list[Classes] = [
            archive[f"sample_{number}"] for number in range(len(archive.files) - 1)
        ]
    first = near = samples = positions = classes = 0
    distinct: set[int] = set()
    for number, scores in _scored(session, settings, index, len(chosen), seconds):
        best = chosen[number]
        ranks = ranks_of(best, scores)
        first += int((ranks == 0).sum())
        near += int((ranks < NEAR).sum())
        samples += best.shape[0]
        positions += best.size
        classes = scores.shape[1]
        distinct.update(np.unique(best).tolist())
    return Agreement(
        output=graph.outputs[index],
        classes=classes,
        samples=samples,
        positions=positions,
        distinct=len(distinct),
        top1=first / positions,
        top5=near / positions if classes > NEAR else None,
    )


def agreement_of(job: CheckJob, session: Fed) -> tuple[Agreement | None, str | None]:
    """With the baseline's classes, or why it is not known; the baseline itself keeps its own."""
    if job.agreement_seconds <= 0:
        return None, None
    try:
        graph = parse_graph(Path(job.model_graph).read_bytes(), "model")
        classes, seconds = Path(job.classes), job.agreement_seconds
        if job.reference is None:
            keep_classes(session, job.settings, graph, classes, seconds=seconds)
            return None, None
        return with_classes(session, job.settings, graph, classes, seconds=seconds), None
    except NoScores as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001 - engines raise many kinds; the recording goes on without
        return None, clean(str(error)) or type(error).__name__


def ranks_of(best: Classes, scores: Scores) -> Classes:
    """How many classes score higher than those in `best`, of equal scores the earlier ones."""
    of_best = np.take_along_axis(scores, best[:, np.newaxis], axis=1)
    higher = (scores > of_best).sum(axis=1)
    number = np.arange(scores.shape[1]).reshape(-1, *[1] * (scores.ndim - 2))
    earlier = (scores == of_best) & (number < best[:, np.newaxis])
    ranks: Classes = higher + earlier.sum(axis=1)
    return ranks


def _scoring_output(graph: Graph, outputs: Sequence[Array | None]) -> int | None:
    """The first output that scores classes in floating-point numbers."""
    for index, output in enumerate(outputs):
        is_float = output is not None and output.dtype.kind == "f" and output.size > 0
        if output is not None and is_float and scores_classes(graph, index, output.shape):
            return index
    return None


def _scored(
    session: Fed, settings: SessionSettings, index: int, maximum: int, seconds: float
) -> Iterator[tuple[int, Scores]]:
    """Number of the feed and the scores for it; fewer feeds when time is short, but one."""
    started = time.monotonic()
    for number in range(maximum):
        if number and time.monotonic() - started > seconds:
            return
        session.feed(feeds.draw(settings, "agreement", number))
        session.run()
        scores = session.outputs()[index]
        if scores is None or not np.isfinite(scores).all():
            raise NoScores("its scores are not all finite")
        yield number, cast("Scores", scores)
