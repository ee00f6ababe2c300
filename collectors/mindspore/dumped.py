"""What kernels wrote in one run, as MindSpore's own dump has it: a file for each tensor.

File names are TYPE.NAME.task.stream.time.output.PLACE.format.dtype.npy, with the / of the kernel's
full name as _.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from fusescope.analysis.graph import Node
from fusescope.collectors.mindspore.program import Kernel, part_of
from fusescope.collectors.models.array import Array

_PARTS = 7  # behind the name: task, stream, time, output, place, format, dtype


class Values:
    """The tensors below the folder that these kernels wrote, read when asked for."""

    def __init__(self, folder: Path, kernels: Iterable[Kernel | Node]) -> None:
        self._files: dict[str, Path] = {}
        names: dict[str, list[Kernel | Node]] = {}
        for kernel in kernels:
            names.setdefault(f"{kernel.op_type}.{kernel.name.replace('/', '_')}", []).append(kernel)
        for file in sorted(folder.glob("**/*.output.*.npy")):
            name, *parts = file.name.removesuffix(".npy").rsplit(".", _PARTS)
            known = names.get(name, ())
            if len(parts) < _PARTS or len(known) != 1 or not parts[4].isdigit():
                continue
            kernel, place = known[0], int(parts[4])
            writes = kernel.outputs if isinstance(kernel, Node) else kernel.writes
            whole = writes == (kernel.name,)
            self._files.setdefault(
                kernel.name if whole and not place else part_of(kernel.name, place), file
            )

    def array(self, name: str) -> Array | None:
        """The values of a tensor; None where they are not there, or are not numbers."""
        file = self._files.get(name)
        if file is None:
            return None
        array: Array = np.load(file, allow_pickle=False)
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        return array if array.dtype.kind in "fiub" and array.size else None
