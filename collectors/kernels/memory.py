"""The memory that kernels write to: few buffers, used again when nobody reads what is in them."""

from __future__ import annotations

from collections.abc import Sequence


class Buffers:
    """Plans buffers while the pieces are gone through in their order. `sizes` are their bytes.

    A tensor that is written over another one goes where that one is, in a buffer or in memory of
    the engine. Scratch memory is shared, since one kernel runs at a time.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._holds: dict[str, int] = {}  # tensor -> its buffer
        self._unused: list[int] = []
        self._scratch: int | None = None

    def take(self, tensor: str, size: int) -> int:
        """The buffer for a tensor of that many bytes: the smallest unused one that fits, else the
        largest unused one, which grows, else a new one."""
        fitting = [buffer for buffer in self._unused if self.sizes[buffer] >= size]
        if fitting:
            buffer = min(fitting, key=self.sizes.__getitem__)
        elif self._unused:
            buffer = max(self._unused, key=self.sizes.__getitem__)
        else:
            buffer = self._new(0)
            self._unused.append(buffer)
        self._unused.remove(buffer)
        self.sizes[buffer] = max(self.sizes[buffer], size)
        self._holds[tensor] = buffer
        return buffer

    def write_over(self, old: str, new: str) -> None:
        """`new` takes the place of `old`."""
        if old in self._holds:
            self._holds[new] = self._holds.pop(old)

    def scratch(self, size: int) -> int:
        """The buffer for scratch memory, of at least that many bytes."""
        if self._scratch is None:
            self._scratch = self._new(0)
        self.sizes[self._scratch] = max(self.sizes[self._scratch], size)
        return self._scratch

    def free(self, tensors: Sequence[str]) -> None:
        """Nobody reads these any more."""
        self._unused += [self._holds.pop(name) for name in tensors if name in self._holds]

    def _new(self, size: int) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1
