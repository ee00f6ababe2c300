"""Every engine is added for real: `make test-engines` (minutes, a network, gigabytes of disk)."""

from __future__ import annotations

import subprocess
import time

import pytest

from fusescope.analysis import units
from fusescope.collectors.environments import adding, state
from fusescope.collectors.environments.catalogue import ENGINES

# What proves that an engine compiles, beside that it can be imported.
COMPILES = {
    "torch": "import torch; f = torch.compile(lambda x: torch.relu(x * 2 + 1)); "
    "print(float(f(torch.ones(1000)).sum()))",
    "jax": "import jax; f = jax.jit(lambda x: jax.nn.relu(x * 2 + 1)); "
    "print(float(f(jax.numpy.ones(1000)).sum()))",
    "mindspore": "import numpy, mindspore as ms; "
    "ms.set_context(mode=ms.GRAPH_MODE, enable_graph_kernel=True); "
    "ms.set_device('CPU'); "
    "print(float(ms.nn.ReLU()(ms.Tensor(numpy.full(1000, 3, 'f4'))).asnumpy().sum()))",
    "openvino": "import numpy, openvino as ov; from openvino import opset13 as op; "
    "x = op.parameter([1000], numpy.float32); "
    "y = op.relu(op.add(op.multiply(x, numpy.float32(2)), numpy.float32(1))); "
    "f = ov.compile_model(ov.Model([op.result(y)], [x]), 'CPU'); "
    "print(float(f(numpy.ones(1000, 'f4'))[0].sum()))",
}


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_is_added_and_compiles(
    name: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp(name)))
    engine = ENGINES[name]
    start_s = time.monotonic()
    with adding.adding(engine, lambda said, on_disk: None) as found:
        assert isinstance(found, adding.Addition)
        ready = found.install()
    took_s = time.monotonic() - start_s
    assert ready.kind == "ready" and ready.version is not None and ready.disk_bytes is not None
    assert ready.version.partition("+")[0] == engine.version
    expected = found.build.disk_bytes
    assert expected / 1.25 < ready.disk_bytes < expected * 1.25, "mend the catalogue"
    print(f"\n{name} {ready.version}: {units.capacity(ready.disk_bytes)}, {took_s:.0f} s")

    done = subprocess.run(
        [state.python_of(name), "-c", COMPILES[name]],
        cwd=ready.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "3000.0\n", done.stderr

    assert adding.remove(engine) == pytest.approx(ready.disk_bytes, rel=0.1)
    assert state.state_of(engine).kind == "absent"
