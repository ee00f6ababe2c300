"""What this machine can do under a recording's thread settings."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from collectors.jobs import PeaksJob as Job
from collectors.jobs import PeaksMeasured
from collectors.quiet import lower_quartile
from collectors.runtimes.onnxruntime import PROVIDERS, options

GEMM_SIZES = (256, 384, 512)  # small enough to fit between two interruptions
GEMM_REPETITIONS = 200
GEMM_SECONDS = 2.0
CHAIN_NODES = (50, 250)
CHAIN_ROUNDS = 60


def run(job: Job) -> PeaksMeasured:
    """Best float32 matrix product (2·n³ / time, B constant and so packed ahead, like the
    weights of a model), and the un-profiled cost of one more tiny node."""
    gemm = {n: _gemm_flops_per_s(n, job) for n in GEMM_SIZES}
    best = max(gemm, key=lambda n: gemm[n])
    return PeaksMeasured(gemm[best], best, _dispatch_ns(job))


def _gemm_flops_per_s(n: int, job: Job) -> float:
    chance = np.random.default_rng(n)
    left, right = chance.standard_normal((2, n, n), dtype=np.float32)
    multiply = _bound(
        [helper.make_node("MatMul", ["a", "b"], ["y"], name="MatMul")],
        {"a": left},
        [numpy_helper.from_array(right, "b")],
        job,
    )
    best_ns = min(_repeat(multiply, GEMM_REPETITIONS, GEMM_SECONDS / len(GEMM_SIZES)))
    return 2 * n**3 / (best_ns / 1e9)


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
    names = ["a", *(f"t{place}" for place in range(count - 1)), "y"]
    nodes = [
        helper.make_node("Neg", [names[place]], [names[place + 1]], name=f"Neg_{place}")
        for place in range(count)
    ]
    chain = _bound(nodes, {"a": np.ones(16, np.float32)}, [], job)
    for _ in range(5):
        chain()
    return chain


def _repeat(execute: Callable[[], None], repetitions: int, seconds: float) -> list[int]:
    """Times of `repetitions` runs in ns; fewer, but at least one, when `seconds` are over."""
    deadline = time.perf_counter() + seconds if seconds else None
    times: list[int] = []
    for _ in range(repetitions):
        started = time.perf_counter_ns()
        execute()
        times.append(time.perf_counter_ns() - started)
        if deadline is not None and time.perf_counter() > deadline:
            break
    return times


def _bound(
    nodes: list[onnx.NodeProto],
    feeds: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]],
    constants: list[onnx.TensorProto],
    job: Job,
) -> Callable[[], None]:
    """A session of these nodes with input and output bound; calling it runs it once."""
    shape = next(iter(feeds.values())).shape
    graph = helper.make_graph(
        nodes,
        "peak",
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, v.shape) for k, v in feeds.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
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
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output(
        "y", ort.OrtValue.ortvalue_from_shape_and_type(list(shape), np.float32)
    )
    return lambda: session.run_with_iobinding(binding)
