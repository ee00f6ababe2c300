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


def told(expression: str) -> Any:
    done = in_torchs_python("-c", f"{_HEAD}\nprint(json.dumps({expression}))")
    assert not done.returncode, done.stderr[-1000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_processor_is_a_device() -> None:
    device = "(d := devices.found(Placement()))"
    assert told(f"[{device}.provider, str(d.place), d.synchronise(), d.event(), d.peaks()]") == [
        "CPU", "cpu", None, None, {},
    ]  # fmt: skip
    assert told(f"[len({device}.profiled()), d.facts().kind, d.state()]") == [1, "cpu", None]
    assert told(f"{device}.emptied_caches().nbytes") == 256 * 2**20


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
