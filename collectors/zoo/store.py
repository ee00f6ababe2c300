"""Zoo models on disk: built once, kept in the user's cache."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path

import onnx

from fusescope.collectors import zoo
from fusescope.collectors.files import cache
from fusescope.collectors.zoo import ZooModel, calibration


def model_file(name: str, cache_folder: Path, fallback: Path) -> Path:
    """The model's file in the cache, built when it is not there or not what was put there.

    Where the cache is not writable the file goes into `fallback`. Raises FuseScopeError for an
    unknown name.
    """
    entry = zoo.chosen(name, None)
    path = cache_folder / entry.cached
    if _is_whole(path):
        return path
    data = build(entry).SerializeToString(deterministic=True)
    if cache.write_atomic(path, data) and cache.write_atomic(_digest_file(path), _digest(data)):
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


def _is_whole(path: Path) -> bool:
    """Whether a file is the one whose digest lies beside it: disks fill, and people edit."""
    try:
        return _digest_file(path).read_bytes() == _digest(path.read_bytes())
    except OSError:
        return False


def _digest_file(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
