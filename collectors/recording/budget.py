"""What fits into a time budget: the rounds of a block may shrink, the blocks may not."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from fusescope.collectors.recording.blocks import MIN_ROUNDS


@dataclass
class BlockCost:
    """Seconds of a block: `fixed_s` for process, sessions, warm-up and profiles, `round_s` for
    each round. Estimated first, then learned from the blocks that ran."""

    fixed_s: float
    round_s: float
    _fixed: list[float] = field(default_factory=list)
    _round: list[float] = field(default_factory=list)

    def learn(self, seconds: float, timed_s: float, rounds: int) -> None:
        """One block took `seconds`, of which its `rounds` took `timed_s`."""
        self._fixed.append(max(seconds - timed_s, 0.0))
        self._round.append(timed_s / max(rounds, 1))
        self.fixed_s = sum(self._fixed) / len(self._fixed)
        self.round_s = sum(self._round) / len(self._round)

    def seconds(self, rounds: int) -> float:
        """Expected seconds of a block."""
        return self.fixed_s + rounds * self.round_s

    def rounds_in(self, seconds: float, at_most: int) -> int:
        """Rounds of a block that may take `seconds`: at least MIN_ROUNDS (or `at_most`)."""
        room = seconds - self.fixed_s
        fitting = int(room / self.round_s) if self.round_s > 0 else at_most
        return min(at_most, max(MIN_ROUNDS, fitting))


@dataclass(frozen=True)
class Deadline:
    """The end of the budget; without one, there is always time."""

    at: float | None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """`seconds` from now, or none."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def left_s(self) -> float | None:
        """Seconds left, never negative; None without a deadline."""
        return None if self.at is None else max(0.0, self.at - time.monotonic())
