"""What this machine can do under a recording's thread settings."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from fusescope.analysis.experiment import Bandwidth, Cache, Peaks, Spread
from fusescope.collectors.models.array import Array
from fusescope.collectors.recording.quiet import lower_quartile
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, options
from fusescope.collectors.workers.jobs import PeaksJob as Job

PRODUCT_SIZES = (256, 384, 512)  # small enough to fit between two interruptions
PRODUCT_REPETITIONS = 200
GEMM_SECONDS = 1.5
INT8_SECONDS = 0.8
CHAIN_NODES = (50, 250)
CHAIN_ROUNDS = 60
LEVEL_SECONDS = 0.3
MEMORY_SECONDS = 0.8
MIN_REPETITIONS = 5
# One array; three of them are read and written.
MIN_ARRAY_BYTES = 64 * 2**20
MAX_ARRAY_BYTES = 384 * 2**20
BEYOND_CACHE = 2  # times the last level, that the three arrays exceed at least
_ARRAYS = 3
_FLOAT_BYTES = 4


def run(job: Job) -> Peaks:
    """Best matrix products (2·n³ / time, B constant and so packed ahead, like the weights of a
    model), the bandwidths, and the un-profiled cost of one more tiny node."""
    gemm_n, gemm = _best_product(job, GEMM_SECONDS, _gemm)
    int8_n, int8 = _best_product(job, INT8_SECONDS, _int8_product)
    return Peaks(
        gemm_flops_per_s=_rate(2 * gemm_n**3, min(gemm)),
        gemm_n=gemm_n,
        dispatch_ns=_dispatch_ns(job),
        gemm_spread=_spread(2 * gemm_n**3, gemm),
        int8_ops_per_s=_rate(2 * int8_n**3, min(int8)),
        int8_n=int8_n,
        int8_spread=_spread(2 * int8_n**3, int8),
        bandwidths=tuple(_bandwidths(job)),
    )


def _rate(amount: float, time_ns: float) -> float:
    return amount / (time_ns / 1e9)


def _spread(amount: float, times_ns: Sequence[int]) -> Spread:
    """Quartiles of the rate; those of one repetition are that one."""
    if len(times_ns) == 1:
        times_ns = [*times_ns, *times_ns]
    fast, _, slow = statistics.quantiles(times_ns, n=4, method="inclusive")
    return Spread(_rate(amount, slow), _rate(amount, fast))


def _best_product(
    job: Job, seconds: float, product: Callable[[int, Job], Callable[[], None]]
) -> tuple[int, list[int]]:
    """The size of the best product, and the times of its repetitions in ns."""
    share = seconds / len(PRODUCT_SIZES)
    times = {n: _repeat(product(n, job), PRODUCT_REPETITIONS, share) for n in PRODUCT_SIZES}
    best = max(times, key=lambda n: _rate(n**3, min(times[n])))
    return best, times[best]


def _gemm(n: int, job: Job) -> Callable[[], None]:
    left, right = np.random.default_rng(n).standard_normal((2, n, n), dtype=np.float32)
    node = helper.make_node("MatMul", ["a", "b"], ["y"], name="MatMul")
    return _bound([node], {"a": left}, [numpy_helper.from_array(right, "b")], job)


def _int8_product(n: int, job: Job) -> Callable[[], None]:
    chance = np.random.default_rng(n)
    left = chance.integers(0, 256, (n, n), dtype=np.uint8)
    right = numpy_helper.from_array(chance.integers(-64, 65, (n, n), dtype=np.int8), "b")
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"], name="MatMulInteger")
    return _bound([node], {"a": left}, [right], job, TensorProto.INT32)


def _bandwidths(job: Job) -> list[Bandwidth]:
    """Of every cache level from the second on (in the first an operator's own cost is most of
    the time), and of main memory; a level whose arrays do not fit in memory is left out."""
    caches = {cache.level: cache for cache in job.caches if cache.type.lower() != "instruction"}
    found = []
    for level in sorted(level for level in caches if level > 1):
        # Half of one instance: what several cores share of it, all of them can hold.
        array_bytes = caches[level].bytes // 2 // _ARRAYS
        found.append(_bandwidth(level, array_bytes, 16 if array_bytes < 2**20 else 4, job))
    found.append(_bandwidth(None, _memory_array_bytes(caches, job), 1, job))
    return [one for one in found if one is not None]


def _memory_array_bytes(caches: dict[int, Cache], job: Job) -> int:
    """Bytes of an array, 0 where arrays that exceed the caches would be too large."""
    last = caches[max(caches)] if caches else None
    cached = last.bytes * min(last.instances, job.threads) if last else 0
    array_bytes = min(max(MIN_ARRAY_BYTES, 2 * cached), MAX_ARRAY_BYTES)
    return array_bytes if _ARRAYS * array_bytes >= BEYOND_CACHE * cached else 0


def _bandwidth(level: int | None, array_bytes: int, nodes: int, job: Job) -> Bandwidth | None:
    """Chains of Add: every node reads two vectors and writes one."""
    floats = array_bytes // _FLOAT_BYTES
    fits = job.memory_bytes is None or _ARRAYS * array_bytes <= job.memory_bytes
    if not floats or not fits:
        return None
    names = ["a", *(f"t{index}" for index in range(nodes - 1)), "y"]
    chain = [
        helper.make_node("Add", [names[index], "b"], [names[index + 1]], name=f"Add_{index}")
        for index in range(nodes)
    ]
    one = np.ones(floats, np.float32)
    try:
        add = _bound(chain, {"a": one, "b": one}, [], job)
        add()
    except (MemoryError, RuntimeError):  # of the engine, when it cannot allocate
        return None
    seconds = MEMORY_SECONDS if level is None else LEVEL_SECONDS
    times = _repeat(add, PRODUCT_REPETITIONS, seconds, minimum=MIN_REPETITIONS)
    moved = nodes * _ARRAYS * floats * _FLOAT_BYTES
    return Bandwidth(
        level=level,
        bytes_per_s=_rate(moved, min(times)),
        spread=_spread(moved, times),
        working_set_bytes=_ARRAYS * floats * _FLOAT_BYTES,
    )


def _dispatch_ns(job: Job) -> float | None:
    """Slope between a short and a long chain of 16-element Neg nodes, lower quartiles."""
    short, long = (_chain(count, job) for count in CHAIN_NODES)
    times: tuple[list[int], list[int]] = ([], [])
    for _ in range(CHAIN_ROUNDS):
        for chain, into in zip((short, long), times, strict=True):
            into += _repeat(chain, 1, 0.0)
    slope = (lower_quartile(times[1]) - lower_quartile(times[0])) / (
        CHAIN_NODES[1] - CHAIN_NODES[0]
    )
    return slope if slope > 0 else None


def _chain(count: int, job: Job) -> Callable[[], None]:
    names = ["a", *(f"t{index}" for index in range(count - 1)), "y"]
    nodes = [
        helper.make_node("Neg", [names[index]], [names[index + 1]], name=f"Neg_{index}")
        for index in range(count)
    ]
    chain = _bound(nodes, {"a": np.ones(16, np.float32)}, [], job)
    for _ in range(5):
        chain()
    return chain


def _repeat(
    execute: Callable[[], None], repetitions: int, seconds: float, minimum: int = 1
) -> list[int]:
    """Times of `repetitions` runs in ns; fewer, but `least`, when `seconds` are over."""
    deadline = time.perf_counter() + seconds if seconds else None
    times: list[int] = []
    for _ in range(repetitions):
        started = time.perf_counter_ns()
        execute()
        times.append(time.perf_counter_ns() - started)
        if deadline is not None and len(times) >= minimum and time.perf_counter() > deadline:
            break
    return times


def _bound(
    nodes: list[onnx.NodeProto],
    feeds: dict[str, Array],
    constants: list[onnx.TensorProto],
    job: Job,
    out: int = TensorProto.FLOAT,
) -> Callable[[], None]:
    """A session of these nodes with input and output `y` bound; calling it runs it once."""
    shape = next(iter(feeds.values())).shape
    graph = helper.make_graph(
        nodes,
        "peak",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in feeds.items()
        ],
        [helper.make_tensor_value_info("y", out, shape)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = ort.InferenceSession(
        model.SerializeToString(),
        options("none", threads=job.threads, spin=job.spin),
        providers=PROVIDERS,
    )
    binding = session.io_binding()
    for name, array in feeds.items():
        value = ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), array.dtype)
        value.update_inplace(array)
        binding.bind_ortvalue_input(name, value)
    binding.bind_ortvalue_output(
        "y",
        ort.OrtValue.ortvalue_from_shape_and_type(
            list(shape), helper.tensor_dtype_to_np_dtype(out)
        ),
    )
    return lambda: session.run_with_iobinding(binding)
