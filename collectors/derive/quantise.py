"""What `int8` runs: the model with 8-bit weights and activations, by ONNX Runtime's own quantiser.

BatchNormalization and constant factors are folded into convolutions first (collectors/fusion).
"""

from __future__ import annotations

import logging
import math
import platform
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.fusion.fusing import fuse
from fusescope.collectors.fusion.rules import Rules
from fusescope.collectors.models.model import ONE_FILE_BYTES, opset_of, save
from fusescope.collectors.runtimes.onnxruntime import GraphSession
from fusescope.collectors.tensors import feeds
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Codes, Derived, DeriveJob, SessionSettings

_CODING, _DECODING = "QuantizeLinear", "DequantizeLinear"
_TO_FLOAT = {_DECODING, "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}
_PER_CHANNEL_OPSET = 13  # QuantizeLinear has an axis from there on
_CPU_FLAGS = Path("/proc/cpuinfo")
_MAX_TOLD = 24  # op types


def derive(job: DeriveJob, variant: Variant, model: onnx.ModelProto) -> Derived:
    """Writes the quantised model into the job's folder. Raises FuseScopeError for a model that is
    quantised already, that has no operator to quantise, or that the quantiser refuses."""
    _refuse_quantised(model)
    folder = Path(job.folder)
    folded = folder / "folded"
    folded.mkdir()
    plain = fuse(model, job.settings, Rules(level="O1"), folded, seed=job.seed)
    per_channel = opset_of(model) >= _PER_CHANNEL_OPSET
    narrow = needs_narrow_weights()
    signed = _has_signed_kernels()
    path = folder / "model.onnx"
    count = feeds.count(job.settings, minimum=2)
    large = weights_bytes(plain.model) > ONE_FILE_BYTES
    if name_all_axes(plain.model):
        save(plain.model, plain.path)
    _quantise(plain.path, path, job.settings, count, per_channel, narrow, signed, large)
    result = onnx.load(str(path))
    quantised, left = operators(_as_run(job.settings, variant, path, folder / "optimised.onnx"))
    if not quantised:
        raise FuseScopeError("quantiser_nothing")
    codes = folder / "codes.json"
    codes.write_bytes(msgspec.json.encode(codes_of(result, model)))
    told: dict[str, str | int | float | bool] = {
        "quantisation": "static, QuantizeLinear and DequantizeLinear around each operator",
        "weight_type": f"int8, symmetric, per {'channel' if per_channel else 'tensor'}"
        + (", 7 bits used" if narrow else ""),
        "activation_type": "int8, asymmetric" if signed else "uint8, asymmetric",
        "calibration": "least and most value",
        "calibration_samples": count * job.settings.drawing.batch,
        "calibration_inputs": f"not the recorded ones: {feeds.told(job.settings)}",
        "nodes_folded_first": plain.report.nodes_before - plain.report.nodes_after,
        "operators_quantised": listed(quantised),
        "operators_left_float": listed(left),
        "weights_bytes": weights_bytes(result),
        "weights_bytes_before": weights_bytes(plain.model),
    }
    return Derived(str(path), optimization=variant.optimization, codes=str(codes), settings=told)


def operators(model: onnx.ModelProto) -> tuple[Counter[str], Counter[str]]:
    """Operators of a graph as the engine runs it, by type: those that compute on codes, and those
    left in floating point. What only codes, decodes or transposes is neither."""
    codes: set[str] = set()
    quantised: Counter[str] = Counter()
    left: Counter[str] = Counter()
    constant = {tensor.name for tensor in model.graph.initializer}
    for node in model.graph.node:
        read = [name for name in node.input if name and name not in constant]
        on_codes = bool(read) and read[0] in codes
        if node.op_type == _CODING or (on_codes and node.op_type not in _TO_FLOAT):
            codes.update(node.output)
        if node.op_type not in (_CODING, _DECODING, "Transpose"):
            (quantised if on_codes else left)[node.op_type] += 1
    return quantised, left


def name_all_axes(model: onnx.ModelProto) -> int:
    """Spells out the sizes of every Resize that gives those of some axes only: ONNX Runtime 1.31
    loses them when it moves an 8-bit model to channels last. Returns how many were changed."""
    graph = model.graph
    shapes = {
        value.name: [size.dim_value for size in value.type.tensor_type.shape.dim]
        for value in (*graph.input, *graph.value_info)
    }
    constants = {tensor.name: tensor for tensor in graph.initializer}
    changed = 0
    for node in graph.node:
        if node.op_type != "Resize" or len(node.input) < 4 or node.input[3] not in constants:
            continue
        axes = [a for a in node.attribute if a.name == "axes"]
        shape = list(shapes.get(node.input[0], ()))
        keeps_ratio = any(
            a.name == "keep_aspect_ratio_policy" and a.s != b"stretch" for a in node.attribute
        )
        if not axes or not shape or not all(shape) or node.input[1] or keeps_ratio:
            continue
        sizes = onnx.numpy_helper.to_array(constants[node.input[3]])
        for axis, size in zip(axes[0].ints, sizes.tolist(), strict=True):
            shape[axis] = size
        name = f"{node.name}/all_sizes"
        graph.initializer.append(onnx.numpy_helper.from_array(np.array(shape, np.int64), name))
        node.input[3] = name
        node.attribute.remove(axes[0])
        changed += 1
    if changed:
        read = {name for node in graph.node for name in node.input}
        for tensor in [t for t in graph.initializer if t.name not in read]:
            graph.initializer.remove(tensor)
    return changed


def codes_of(quantised: onnx.ModelProto, model: onnx.ModelProto) -> Codes:
    """What the tensors of the quantised model stand for. The quantiser keeps the name of what it
    codes, or gives it to what comes out again."""
    known = {name for node in model.graph.node for name in node.output if name}
    known |= {value.name for value in model.graph.input}
    known -= {tensor.name for tensor in model.graph.initializer}
    coded_from: dict[str, str] = {}
    originals: dict[str, str] = {}
    dequantised: dict[str, str] = {}
    for node in quantised.graph.node:
        if node.op_type == _CODING:
            coded_from[node.output[0]] = node.input[0]
        originals.update((name, name) for name in node.output if name in known)
    originals.update((v.name, v.name) for v in quantised.graph.input if v.name in known)
    for node in quantised.graph.node:
        if node.op_type != _DECODING or node.input[0] not in coded_from:
            continue
        code, value = node.input[0], node.output[0]
        source = coded_from[code]
        original = source if source in known else value if value in known else None
        if original is not None:
            originals |= dict.fromkeys((source, code, value), original)
            dequantised[original] = value
    return Codes(originals, dequantised)


def weights_bytes(model: onnx.ModelProto) -> int:
    """Bytes of all initialisers."""
    return sum(
        math.prod(tensor.dims) * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        for tensor in model.graph.initializer
    )


def needs_narrow_weights() -> bool:
    """Whether 8-bit products can overflow on this CPU: x86 without VNNI adds them up in 16 bits,
    so that ONNX Runtime advises weights of 7 bits there."""
    if platform.machine().lower() not in ("x86_64", "amd64", "i686"):
        return False
    try:
        flags = _CPU_FLAGS.read_text(errors="replace")
    except OSError:
        return False
    return "avx512_vnni" not in flags and "avx_vnni" not in flags


def listed(counts: Counter[str]) -> str:
    """'53 Conv, 16 Add', the most frequent first; 'none'."""
    maximum = counts.most_common(_MAX_TOLD)
    rest = sum(counts.values()) - sum(number for _, number in maximum)
    parts = [f"{number} {op_type}" for op_type, number in maximum]
    return ", ".join(parts + ([f"{rest} others"] if rest else [])) or "none"


def _has_signed_kernels() -> bool:
    """ARM's kernels take signed activations; those of x86 want unsigned ones beside signed
    weights, and leave other convolutions in floating point."""
    return platform.machine().lower() in ("arm64", "aarch64")


def _refuse_quantised(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        is_coded = node.op_type in (_CODING, _DECODING, "DynamicQuantizeLinear")
        if is_coded or node.op_type.startswith(("QLinear", "QGemm")) or "Integer" in node.op_type:
            raise FuseScopeError("quantised_already", op_type=clean(node.op_type)[:60])


def _as_run(settings: SessionSettings, variant: Variant, path: Path, dump: Path) -> onnx.ModelProto:
    """What the engine makes of the quantised model. Raises FuseScopeError where it refuses it."""
    settings = msgspec.structs.replace(settings, model=str(path))
    try:
        GraphSession(settings, variant.optimization, dump=dump)
    except Exception as error:  # noqa: BLE001 - the engine raises many kinds
        said = clean(str(error)) or type(error).__name__
        raise FuseScopeError("quantised_refused", reason=said) from None
    model = onnx.load(str(dump), load_external_data=False)
    dump.unlink()
    return model


def _quantise(
    source: Path,
    path: Path,
    settings: SessionSettings,
    count: int,
    per_channel: bool,
    narrow: bool,
    signed: bool,
    large: bool,
) -> None:
    from onnxruntime import quantization

    class Calibration(quantization.CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._feeds = (feeds.draw(settings, "calibration", index) for index in range(count))

        def get_next(self) -> dict[str, Any] | None:
            return next(self._feeds, None)

    try:
        with _quiet():
            quantization.quantize_static(
                str(source),
                str(path),
                Calibration(),
                quant_format=quantization.QuantFormat.QDQ,
                per_channel=per_channel,
                reduce_range=narrow,
                activation_type=(
                    quantization.QuantType.QInt8 if signed else quantization.QuantType.QUInt8
                ),
                weight_type=quantization.QuantType.QInt8,
                use_external_data_format=large,
            )
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the quantiser raises many kinds
        said = clean(str(error)) or type(error).__name__
        raise FuseScopeError("quantiser_refused", reason=said) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the quantiser's advice, which would pass for a worker's last words."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
