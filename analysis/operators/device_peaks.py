"""Public peaks of devices by the names that profilers write: dense, per data type, and of memory.

A name must be that of one product in full: parts of a device (MIG), laptops, boards of other sizes
and families have other figures, and no name of ours. Of matrix products the figures are those of
tensor or matrix cores; float32 is without TF32. Huawei publishes no table per variant of the
Ascend 910B, so that none is here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

import msgspec

_MAX_CHARS = 200


class DevicePeaks(msgspec.Struct, frozen=True):
    """One product: `flops_per_s` by data type (operations for int8), bytes per second of its
    memory, and the vendor's document that has the figures."""

    name: str
    flops_per_s: Mapping[str, float]
    bytes_per_s: float
    source: str


def _device(
    name: str,
    source: str,
    gigabytes: float,
    *,
    float64: float = 0,
    float32: float = 0,
    tf32: float = 0,
    half: float = 0,
    bfloat16: float | None = None,
    float8: float = 0,
    int8: float = 0,
) -> DevicePeaks:
    """Rates in 10^12 a second, 0 where the document has none; `bfloat16` is as `half` unless it is
    given."""
    rates = {
        "float64": float64, "float32": float32, "tf32": tf32, "float16": half,
        "bfloat16": half if bfloat16 is None else bfloat16, "float8": float8, "int8": int8,
    }  # fmt: skip
    known = {kind: rate * 1e12 for kind, rate in rates.items() if rate}
    return DevicePeaks(name, known, gigabytes * 1e9, source)


_HOPPER = "NVIDIA H100 Tensor Core GPU Architecture whitepaper, v1.04"
_A100 = "NVIDIA A100 Tensor Core GPU datasheet"
_V100 = "NVIDIA V100 Tensor Core GPU datasheet"
# Where a datasheet has figures with sparsity only, they are halved.
_DEVICES: tuple[tuple[str, DevicePeaks], ...] = (
    # Whitepaper, table 2: H100 SXM5; 'H100 80GB HBM3' is how drivers call it.
    (r"h100 (?:sxm5? ?)?80gb hbm3|h100[ -]sxm5?(?:[ -]80gb)?",
     _device("NVIDIA H100 SXM", _HOPPER, 3352, float64=66.9, float32=66.9, tf32=494.7, half=989.4,
             float8=1978.9, int8=1978.9)),
    # Whitepaper, table 2: H100 PCIe.
    (r"h100[ -]pcie(?:[ -]80gb)?",
     _device("NVIDIA H100 PCIe", _HOPPER, 2000, float64=51.2, float32=51.2, tf32=378, half=756,
             float8=1513, int8=1513)),
    # Datasheet, column H100 NVL, which has figures with sparsity.
    (r"h100 nvl",
     _device("NVIDIA H100 NVL", "NVIDIA H100 Tensor Core GPU datasheet", 3900, float64=60,
             float32=60, tf32=417.5, half=835.5, float8=1670.5, int8=1670.5)),
    # Datasheet, columns H200 SXM and H200 NVL, with sparsity.
    (r"h200",
     _device("NVIDIA H200 SXM", "NVIDIA H200 Tensor Core GPU datasheet", 4800, float64=67,
             float32=67, tf32=494.5, half=989.5, float8=1979, int8=1979)),
    (r"h200 nvl",
     _device("NVIDIA H200 NVL", "NVIDIA H200 Tensor Core GPU datasheet", 4800, float64=60,
             float32=60, tf32=417.5, half=835.5, float8=1670.5, int8=1670.5)),
    # Datasheet: the three kinds differ in the bandwidth of their memory only.
    (r"a100-(?:sxm4|pcie)-40gb",
     _device("NVIDIA A100 40GB", _A100, 1555, float64=19.5, float32=19.5, tf32=156, half=312,
             int8=624)),
    (r"a100-sxm4-80gb",
     _device("NVIDIA A100 80GB SXM", _A100, 2039, float64=19.5, float32=19.5, tf32=156, half=312,
             int8=624)),
    (r"a100 80gb pcie|a100-pcie-80gb",
     _device("NVIDIA A100 80GB PCIe", _A100, 1935, float64=19.5, float32=19.5, tf32=156, half=312,
             int8=624)),
    # Datasheet: V100 SXM2 and V100 PCIe; those of a DGX Station are not in it.
    (r"v100-sxm[23]-(?:16|32)gb",
     _device("NVIDIA V100 SXM", _V100, 900, float64=7.8, float32=15.7, half=125, bfloat16=0)),
    (r"v100-pcie-(?:16|32)gb",
     _device("NVIDIA V100 PCIe", _V100, 900, float64=7, float32=14, half=112, bfloat16=0)),
    # Datasheet of HGX B200, eight of them, with sparsity; memory from that of DGX B200.
    (r"b200",
     _device("NVIDIA B200", "NVIDIA HGX B200 and DGX B200 datasheets", 8000, float64=37,
             float32=75, tf32=1125, half=2250, float8=4500, int8=4500)),
    # Datasheets of L40S, L4 (with sparsity), A10, T4.
    (r"l40s",
     _device("NVIDIA L40S", "NVIDIA L40S datasheet", 864, float32=91.6, tf32=183, half=362.05,
             float8=733, int8=733)),
    (r"l4",
     _device("NVIDIA L4", "NVIDIA L4 datasheet", 300, float32=30.3, tf32=60, half=121,
             float8=242.5, int8=242.5)),
    (r"a10",
     _device("NVIDIA A10", "NVIDIA A10 datasheet", 600, float32=31.2, tf32=62.5, half=125,
             int8=250)),
    (r"t4",
     _device("NVIDIA T4", "NVIDIA T4 datasheet", 320, float32=8.1, half=65, bfloat16=0, int8=130)),
    # Whitepaper, appendix A: products that add in float32, as frameworks ask for.
    (r"(?:geforce )?rtx 4090",
     _device("NVIDIA GeForce RTX 4090", "NVIDIA Ada GPU Architecture whitepaper", 1008,
             float32=82.6, tf32=82.6, half=165.2, float8=330.3, int8=660.6)),
    # Data sheets of AMD Instinct: matrix rates. Each die of an MI250X is a device: half of it.
    (r"mi210",
     _device("AMD Instinct MI210", "AMD Instinct MI210 data sheet", 1638.4, float64=45.3,
             float32=45.3, half=181, int8=181)),
    (r"mi250x",
     _device("AMD Instinct MI250X (one die)", "AMD Instinct MI250X data sheet", 1638.4,
             float64=47.85, float32=47.85, half=191.5, int8=191.5)),
    (r"mi300x(?: oam)?(?: vf)?",
     _device("AMD Instinct MI300X", "AMD Instinct MI300X data sheet", 5300, float64=163.4,
             float32=163.4, tf32=653.7, half=1307.4, float8=2614.9, int8=2614.9)),
    (r"mi325x(?: oam)?(?: vf)?",
     _device("AMD Instinct MI325X", "AMD Instinct MI325X data sheet", 6000, float64=163.4,
             float32=163.4, tf32=653.7, half=1307.4, float8=2614.9, int8=2614.9)),
    (r"mi355x(?: oam)?(?: vf)?",
     _device("AMD Instinct MI355X", "AMD Instinct MI355X data sheet", 8000, float64=78.6,
             float32=157.3, half=2516.6, float8=5033.2, int8=5033.2)),
    # Technical specification of the Atlas 300I Pro, a card of one Ascend 310P3.
    (r"310p3",
     _device("Ascend 310P3", "Huawei Atlas 300I Pro specification", 204.8, half=70, bfloat16=0,
             int8=140)),
)  # fmt: skip
_VENDOR = r"(?:nvidia |tesla |amd |instinct |ascend ?)*"


@cache
def _names() -> tuple[tuple[re.Pattern[str], DevicePeaks], ...]:
    """Return the pattern of the name of each product, and its peaks."""
    return tuple((re.compile(_VENDOR + f"(?:{name})"), peaks) for name, peaks in _DEVICES)


def device_peaks(device: str | None) -> DevicePeaks | None:
    """The public peaks of a trace's device; None where its name is not that of one product, and
    for several devices, named with commas, that are not all the same one."""
    first, *others = [_of_one(name.strip()) for name in (device or "").split(",")]
    return first if all(other is first for other in others) else None


@lru_cache(maxsize=64)
def _of_one(name: str) -> DevicePeaks | None:
    lower = name[:_MAX_CHARS].lower()
    return next((peaks for pattern, peaks in _names() if pattern.fullmatch(lower)), None)
