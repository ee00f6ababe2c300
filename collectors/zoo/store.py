"""Zoo models on disk: built once, kept in the user's cache."""

from __future__ import annotations

import importlib
from pathlib import Path

import onnx

from collectors import cache, zoo
from collectors.zoo import ZooModel, calibration


def model_file(name: str, cache_folder: Path, fallback: Path) -> Path:
    """The model's file in the cache, built when it is not there.

    Where the cache is not writable the file goes into `fallback`. Raises FuseScopeError for an
    unknown name.
    """
    entry = zoo.chosen(name, None)
    path = cache_folder / entry.cached
    if path.is_file():
        return path
    data = build(entry).SerializeToString(deterministic=True)
    if cache.write_atomic(path, data):
        return path
    path = fallback / path.name
    path.write_bytes(data)
    return path


def build(entry: ZooModel) -> onnx.ModelProto:
    """The model, calibrated where it is to be."""
    function = getattr(importlib.import_module(entry.module), entry.function)
    model: onnx.ModelProto = function(**entry.arguments)
    if entry.calibration is not None:
        calibration.calibrate(model, entry.calibration)
    return model
