"""Runs models under cachegrind, each in a fork: `python cache_worker.py CASES.json RESULT.json`.

Started by benchmarks.cache_model inside valgrind; imports nothing of the project, for every import
is simulated, too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import numpy as np
import onnxruntime as ort


def main() -> None:
    """Runs every case in a fork of its own, which forks again to leave its counters on the way."""
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    children = []
    for case in cases:
        started = time.time()
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            _run(case, tell)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        os.close(tell)
        with os.fdopen(told, encoding="ascii") as pipe:
            pids = [int(pid) for pid in pipe.read().split()]
        children.append({"case": case["name"], "pids": pids, "status": status})
        print(f"{case['name']}: {time.time() - started:.0f} s", flush=True)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(children, file)


def _run(case: dict[str, Any], tell: int) -> None:
    """One session, one thread, inputs and outputs at the same place in every run.

    After each number of runs a copy ends, which has the counters up to there. It comes from this
    process and not from the parent, whose other threads count on their own.
    """
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(case["model"], options, providers=case["providers"])
    binding = session.io_binding()
    for name, shape in case["inputs"].items():
        value = ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
        value.update_inplace(np.full(shape, 0.5, np.float32))
        binding.bind_ortvalue_input(name, value)
    for name, shape in case["outputs"].items():
        binding.bind_ortvalue_output(
            name, ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
        )
    done = 0
    for runs in case["runs"]:
        for _ in range(runs - done):
            session.run_with_iobinding(binding)
        done = runs
        copy = os.fork()
        if copy == 0:
            os._exit(0)  # valgrind writes its counters here
        os.waitpid(copy, 0)
        os.write(tell, b"%d " % copy)


if __name__ == "__main__":
    main()
