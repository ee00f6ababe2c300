"""Zoo models on disk: built once, kept in the user's cache."""

from __future__ import annotations

import importlib
from pathlib import Path

import onnx

from analysis.errors import FuseScopeError
from collectors import cache, zoo
from collectors.zoo import builder, calibration


def model_file(name: str, cache_folder: Path, fallback: Path) -> Path:
    """The model's file in the cache, built when it is not there.

    Where the cache is not writable the file goes into `fallback`.
    """
    path = cache_folder / "zoo" / f"{name}-v{builder.VERSION}.onnx"
    if path.is_file():
        return path
    entry = zoo.find(name)
    if entry is None:
        raise FuseScopeError(
            f"There is no zoo model '{name}'", hint="See fusescope collect --help."
        )
    model: onnx.ModelProto = importlib.import_module(entry.module).build()
    if entry.calibrated:
        calibration.calibrate(model)
    data = model.SerializeToString(deterministic=True)
    if cache.write_atomic(path, data):
        return path
    path = fallback / path.name
    path.write_bytes(data)
    return path
