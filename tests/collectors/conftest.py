"""Tiny models and a cache of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="recording needs the extra 'collect'")
pytest.importorskip("onnxruntime", reason="recording needs the extra 'collect'")

from collectors.tasks.peaks import MOST_ARRAY_BYTES

PEAKS_BYTES = 3 * MOST_ARRAY_BYTES


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """No test reads or writes the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache") / "missing"))
        yield


@pytest.fixture(autouse=True, scope="session")
def one_measurement_of_peaks():
    """What the machine can do takes 3 s and every core: recordings that ask for the same share one
    measurement. The measurement itself is a matter of test_peaks.py and test_worker.py."""
    from collectors.workers.pool import WorkerPool

    kept: dict[tuple[Any, ...], Any] = {}
    run = WorkerPool.run

    def shared(
        pool: WorkerPool, task: str, job: Any, answer: Any, seconds: float | None = None
    ) -> Any:
        if task != "peaks":
            return run(pool, task, job, answer, seconds)
        # More memory than its largest arrays take changes nothing.
        key = (job.threads, job.spin, job.caches, min(job.memory_bytes, PEAKS_BYTES))
        if key not in kept:
            kept[key] = run(pool, task, job, answer, seconds)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerPool, "run", shared)
        yield


@pytest.fixture
def save_model(tmp_path: Path) -> Callable[..., Path]:
    """save_model(nodes, inputs, outputs, weights={}) writes tmp_path/model/model.onnx."""

    def save(
        nodes: list[Any],
        inputs: dict[str, tuple[str, list[int | str]]],
        outputs: list[str],
        weights: dict[str, Any] | None = None,
        name: str = "model",
    ) -> Path:
        helper = onnx.helper
        types = [
            helper.make_tensor_value_info(
                key, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
            )
            for key, (dtype, shape) in inputs.items()
        ]
        constants = [
            onnx.numpy_helper.from_array(np.asarray(value), key)
            for key, value in (weights or {}).items()
        ]
        graph = helper.make_graph(
            nodes, name, types, [onnx.ValueInfoProto(name=key) for key in outputs], constants
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    return save
