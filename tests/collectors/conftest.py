"""Tiny models and a cache of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="recording needs the extra 'collect'")
pytest.importorskip("onnxruntime", reason="recording needs the extra 'collect'")

from fusescope.collectors.workers import worker
from fusescope.collectors.workers.pool import WorkerPool
from tests import known_peaks
from tests.collectors import forks


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """No test reads or writes the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache") / "missing"))
        yield


@pytest.fixture(autouse=True, scope="session")
def known_machine():
    """No recording in this process measures what the machine can do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerPool, "run", known_peaks.in_place_of_measuring())
        yield


@pytest.fixture(autouse=True, scope="session")
def workers_are_copies() -> Iterator[None]:
    """Of one process that has loaded the engine."""
    with contextlib.closing(forks.Copies()) as copies, pytest.MonkeyPatch.context() as patch:
        if forks.SUPPORTED:
            patch.setattr(worker, "_start", copies.start)
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
