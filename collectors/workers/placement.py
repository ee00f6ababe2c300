"""Placement: on which device and in which data type an engine runs a model."""

from __future__ import annotations

import msgspec

CPU = "cpu"


class Placement(msgspec.Struct, frozen=True):
    """`dtype` is what floating-point weights and inputs are converted to, '' for none: they stay
    what the model says. `device` is 'cpu', or a kind of device and its number, 0 where none is
    given: 'cuda', 'cuda:1'. `tf32` says whether a device may round float32 to TF32 in products,
    None for what the engine does by itself. With `flush_l2` the caches of a device are emptied
    before each timed run."""

    dtype: str = ""
    device: str = CPU
    tf32: bool | None = None
    flush_l2: bool = False

    @property
    def kind(self) -> str:
        """Return the kind of the device: 'cuda' of 'cuda:1'."""
        return self.device.partition(":")[0]

    @property
    def number(self) -> int:
        """Return which one of its kind the device is, from 0."""
        return int(self.device.partition(":")[2] or 0)


AS_IT_IS = Placement()
