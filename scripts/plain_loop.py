"""The time of a model by a plain loop, without FuseScope: runs in the Python of torch's environment
for scripts/check_device.py. Prints the median of runs, in ns.

MODEL is FILE.py:FUNCTION, DEVICE as PyTorch calls it, DTYPE '' for the model's own.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time

import torch

WARM_UP, RUNS = 30, 100


def main(model: str, device: str, dtype: str, threads: int) -> None:
    """Compile as torch.compile comes, and run; with events of the device where it has them."""
    torch.set_grad_enabled(False)
    torch.set_num_threads(threads)
    path, _, function = model.rpartition(":")
    spec = importlib.util.spec_from_file_location("model_of_the_check", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where the compiler looks globals up
    spec.loader.exec_module(module)
    network, inputs = getattr(module, function)()
    place = {"device": device, **({"dtype": getattr(torch, dtype)} if dtype else {})}
    network, inputs = network.eval().to(**place), [each.to(**place) for each in inputs]
    compiled = torch.compile(network, dynamic=False)
    for _ in range(WARM_UP):
        compiled(*inputs)
    times = [_timed(compiled, inputs, torch.get_device_module(device)) for _ in range(RUNS)]
    print(round(statistics.median(times)))


def _timed(compiled, inputs, module) -> float:  # type: ignore[no-untyped-def]
    if module.__name__ == "torch.cpu":
        started = time.perf_counter_ns()
        compiled(*inputs)
        return time.perf_counter_ns() - started
    first, last = module.Event(enable_timing=True), module.Event(enable_timing=True)
    module.synchronize()
    first.record()
    compiled(*inputs)
    last.record()
    module.synchronize()
    return float(first.elapsed_time(last) * 1e6)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
