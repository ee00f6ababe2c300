"""Runs a small model with ONNX Runtime, as its environment says, and prints how fast.

    OPTIMISE=0|1   graph optimisation off or on
    PROFILE=1      write ONNX Runtime's profile into the folder of FUSESCOPE_TRACE_DIR

    fusescope collect --command "python onnxruntime_session.py" --env OPTIMISE=0,1 \\
        --names unoptimised,optimised --profile-env PROFILE=1 --time "throughput: {value} runs/s"
"""

import os
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LAYERS, CHANNELS, SIZE, RUNS = 6, 32, 48, 40


def model() -> bytes:
    """A chain of convolution, batch normalisation and ReLU."""
    random = np.random.default_rng(0)
    nodes, weights, tensor = [], [], "x"
    for layer in range(LAYERS):
        values = {
            "w": random.normal(0, 0.06, (CHANNELS, CHANNELS, 3, 3)),
            "scale": np.ones(CHANNELS),
            "bias": np.zeros(CHANNELS),
            "mean": random.normal(0, 0.1, CHANNELS),
            "var": np.ones(CHANNELS),
        }
        named = {name: f"{name}{layer}" for name in values}
        for name, value in values.items():
            weights.append(numpy_helper.from_array(value.astype("float32"), named[name]))
        conv, norm, out = (f"{name}{layer}" for name in ("conv", "norm", "y"))
        nodes += [
            helper.make_node("Conv", [tensor, named["w"]], [conv], f"Conv_{layer}", pads=[1] * 4),
            helper.make_node(
                "BatchNormalization",
                [conv, *(named[name] for name in ("scale", "bias", "mean", "var"))],
                [norm],
                f"Norm_{layer}",
            ),
            helper.make_node("Relu", [norm], [out], f"Relu_{layer}"),
        ]
        tensor = out
    shape = [1, CHANNELS, SIZE, SIZE]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(tensor, TensorProto.FLOAT, shape)],
        weights,
    )
    opset = [helper.make_opsetid("", 17)]
    return onnx.helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def main() -> None:
    """One session, as many runs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if os.environ.get("OPTIMISE", "1") == "0":
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if os.environ.get("PROFILE") == "1":
        options.enable_profiling = True
        folder = Path(os.environ.get("FUSESCOPE_TRACE_DIR", "."))
        options.profile_file_prefix = str(folder / "session")
    session = onnxruntime.InferenceSession(model(), options, providers=["CPUExecutionProvider"])
    feed = {"x": np.ones((1, CHANNELS, SIZE, SIZE), "float32")}
    for _ in range(3):
        session.run(None, feed)
    begun = time.perf_counter()
    for _ in range(RUNS):
        session.run(None, feed)
    seconds = time.perf_counter() - begun
    print(f"throughput: {RUNS / seconds:.2f} runs/s")
    if options.enable_profiling:
        session.end_profiling()


if __name__ == "__main__":
    main()
