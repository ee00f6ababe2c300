"""The device object of torch, with the processor as the device, and what is said where there is no
other: needs torch's environment."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.torch_python import TORCH, in_torchs_python

if TORCH.kind != "ready":
    pytest.skip("torch is not there: fusescope runtimes add torch", allow_module_level=True)

_HEAD = """
import json, torch
from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.torch import devices
from fusescope.collectors.workers.placement import Placement
def said(run):
    try:
        run()
    except FuseScopeError as error:
        return [error.code, error.what]
    return None
def fails(error):
    with devices.chosen(Placement()).failing():
        raise error
def used(kind, count, error=None):
    class Module:
        device_count = staticmethod(lambda: count)
        is_available = staticmethod(lambda: bool(count))
        @staticmethod
        def init():
            raise RuntimeError(error)
    torch.get_device_module = lambda name: Module
    devices._is_built = lambda kind: True
    return said(lambda: devices.found(Placement(device=kind)))
"""


def told(expression: str, head: str = "") -> Any:
    done = in_torchs_python("-c", f"{_HEAD}\n{head}\nprint(json.dumps({expression}))")
    assert not done.returncode, done.stderr[-1000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_processor_is_a_device() -> None:
    device = "(d := devices.found(Placement()))"
    assert told(f"[{device}.provider, str(d.place), d.synchronise(), d.event(), d.peaks()]") == [
        "CPU", "cpu", None, None, {},
    ]  # fmt: skip
    assert told(f"[len({device}.profiled()), d.facts().kind, d.state()]") == [1, "cpu", None]
    assert told(f"{device}.emptied_caches().nbytes") == 256 * 2**20


def test_peaks_are_the_best_of_repetitions_for_each_data_type() -> None:
    """With the processor as the device, which has no TF32: 2 n³ operations, 3 vectors."""
    head = "from fusescope.collectors.torch import peaks; d = devices.found(Placement())"
    found = told(
        "[[[p.data_type, p.n, p.flops_per_s, p.spread.low, p.spread.high] for p in "
        "peaks.products(d, (16, 64))], (b := peaks.bandwidth(d, 2**16)).level, "
        "b.working_set_bytes, b.bytes_per_s, b.spread.low]",
        head,
    )
    assert [kind for kind, *_ in found[0]] == ["float32", "bfloat16", "float16"]
    for _, n, best, low, high in found[0]:
        assert n in (16, 64) and 0 < low <= high <= best
    assert found[1:3] == [None, 3 * 2**16] and 0 < found[4] <= found[3]


@pytest.mark.parametrize("kind", ["cuda", "rocm", "xpu", "mps", "npu"])
def test_a_kind_that_is_not_in_the_build_is_said(kind: str) -> None:
    code, what = told(f"said(lambda: devices.found(Placement(device={kind!r})))")
    assert code == "device_not_in_build" and what.endswith(f"was built without {kind}")


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        ("'cuda:2', 2", "device_not_there", "no device cuda:2: PyTorch sees 2 of this kind"),
        ("'cuda', 0, 'Found no NVIDIA driver'", "device_not_usable", "cuda: Found no NVIDIA"),
        (
            "'cuda', 0, 'The NVIDIA driver on your system is too old (found version 11040).'",
            "device_driver_too_old",
            "(found version 11040)",
        ),
    ],
)
def test_what_keeps_a_device_from_use_is_said(arguments: str, code: str, what: str) -> None:
    """With a stand-in for the module of the kind, which sees as many and fails with that."""
    found = told(f"used({arguments})")
    assert found[0] == code and what in found[1]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("torch.OutOfMemoryError('CUDA out of memory. Tried …')", "device_out_of_memory"),
        ("torch.AcceleratorError('CUDA error: unspecified launch failure')", "device_failed"),
    ],
)
def test_a_device_that_fails_is_one_sentence(error: str, code: str) -> None:
    found = told(f"said(lambda: fails({error}))")
    assert found[0] == code and "\n" not in found[1]
