"""Host waits: when the host waited for a device, and in which call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAX_WAITS = 200_000  # of one trace, the longest ones


@dataclass(frozen=True, eq=False)
class HostWaits:
    """Calls of the host that wait for the device, in order of their starts, on the clock of the
    calls of the trace. `name_of` is the place of each in `names`: the operator of the framework
    around it, where the file says it, else the call."""

    names: tuple[str, ...]
    name_of: np.ndarray
    starts_ns: np.ndarray
    ends_ns: np.ndarray

    def __post_init__(self) -> None:
        if not len(self.name_of) == len(self.starts_ns) == len(self.ends_ns):
            raise ValueError("host waits: columns differ in length")
        if (np.diff(self.starts_ns) < 0).any() or (self.ends_ns < self.starts_ns).any():
            raise ValueError("host waits: times go back")
        if len(self.name_of) and not 0 <= self.name_of.min() <= self.name_of.max() < len(
            self.names
        ):
            raise ValueError("host waits: a name is not there")
