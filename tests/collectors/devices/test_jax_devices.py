"""The device of a recording with JAX, with a stand-in for JAX."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import DeviceState
from fusescope.collectors.jax import devices
from fusescope.collectors.workers import nvidia_smi
from fusescope.collectors.workers.nvidia_smi import Told
from fusescope.collectors.workers.placement import Placement

CUDA = Placement(device="cuda:1")


class JaxRuntimeError(RuntimeError):
    """As JAX calls what its runtime raises."""


class Gpu:
    """A device as JAX has it; `counted` is what it counts of its memory."""

    device_kind = "NVIDIA H100"
    client = SimpleNamespace(platform_version="PJRT C API\ncuda 13000")

    def __init__(self, **counted: int) -> None:
        self.counted = counted

    def memory_stats(self) -> dict[str, int]:
        return self.counted


@pytest.fixture
def jax(monkeypatch: pytest.MonkeyPatch) -> Any:
    """JAX with two devices, or with what `raises`; `set` is what it was configured to."""
    made = SimpleNamespace(
        __version__="0.10.2",
        errors=SimpleNamespace(JaxRuntimeError=JaxRuntimeError),
        set={},
        raises="",
        gpus=[Gpu(), Gpu(bytes_limit=80, bytes_in_use=30, peak_bytes_in_use=50)],
    )
    made.config = SimpleNamespace(update=made.set.__setitem__)

    def listed(kind: str = "") -> list[Gpu]:
        if made.raises:
            raise RuntimeError(made.raises)
        return list(made.gpus)

    made.devices = listed
    monkeypatch.setitem(sys.modules, "jax", made)
    monkeypatch.setattr(nvidia_smi, "ask", lambda device: Told(DeviceState(clock_mhz=9), device))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "true")
    return made


def test_the_device_is_told_of_by_jax_and_its_driver(jax: Any) -> None:
    facts = devices.found(CUDA).facts()
    assert (facts.kind, facts.name, facts.memory_bytes) == ("cuda", "NVIDIA H100", 80)
    assert (facts.driver, facts.runtime) == ("1", "PJRT C API")
    assert facts.states == (DeviceState(clock_mhz=9),)


@pytest.mark.parametrize(("visible", "identity"), [("4,GPU-6", "GPU-6"), ("", "1"), ("4", "1")])
def test_the_driver_is_asked_for_the_device_that_is_visible_there(
    jax: Any, monkeypatch: pytest.MonkeyPatch, visible: str, identity: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices.found(CUDA).identity == identity
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "6")  # of a worker that sees it alone
    assert devices.chosen(CUDA).identity == "6"


def test_memory_is_taken_as_it_is_needed_and_counted(jax: Any) -> None:
    devices.prefer(Placement())
    assert jax.set == {}  # of the processor nothing is changed
    assert devices.os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "true"
    devices.prefer(CUDA)
    assert jax.set == {"jax_platforms": "cuda,cpu"}
    assert devices.os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    assert devices.found(CUDA).peaks() == {"device_allocated_bytes": 50}
    assert devices.Device("cpu", Gpu(peak_bytes_in_use=5)).peaks() == {}
    assert devices.Device("cpu", Gpu()).provider == "CPU"


@pytest.mark.parametrize(
    ("raises", "device", "code"),
    [
        ("Unknown backend: 'cuda' requested, but no platforms …", "cuda", "device_not_in_build"),
        ("Unable to initialize backend 'cuda': no driver", "cuda", "device_not_usable"),
        ("", "cuda:2", "device_not_there"),
    ],
)
def test_what_keeps_a_device_from_use_is_said(
    jax: Any, raises: str, device: str, code: str
) -> None:
    jax.raises = raises
    with pytest.raises(FuseScopeError) as caught:
        devices.found(Placement(device=device))
    assert caught.value.code == code and "\n" not in caught.value.text


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("RESOURCE_EXHAUSTED: Out of memory", "device_out_of_memory"),
        ("INTERNAL: x", "device_failed"),
    ],
)
def test_a_device_that_fails_is_one_sentence(jax: Any, said: str, code: str) -> None:
    with pytest.raises(FuseScopeError) as caught, devices.found(CUDA).failing():
        raise JaxRuntimeError(said)
    assert caught.value.code == code
    if code == "device_out_of_memory":
        assert caught.value.values["free"] == 50
    with pytest.raises(JaxRuntimeError), devices.Device("cpu", None).failing():
        raise JaxRuntimeError(said)
