"""How kernels are named in a sentence: by what engineers call them, and by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.operators.classes import LABELS

_GENERAL = ("unknown", "elementwise", "data_movement")  # classes that say less than the name


def kernel_text(kernels: Sequence[KernelTime]) -> Said:
    """Return the kernels of a change by name, the class in front where it says more: 'softmax
    (cunn_SoftMaxForward)', 'attention (fmha_fwd)'. More than two are counted."""
    op_class, names = common_class(kernels), names_text(kernels)
    return names if op_class is None else _WITH_CLASS.of(op_class=LABELS[op_class], names=names)


def names_text(kernels: Sequence[KernelTime]) -> Said:
    """Return the names of kernels, of more than two the first two and how many others; of more than
    two that a file numbers one by one, as trans_Cast_65, what they are: Cast."""
    names = _names(kernels)
    if len(names) > 2:
        return _MORE.of(first=names[0], second=names[1], n=len(names) - 2)
    if len(names) == 2:
        return _TWO.of(first=names[0], second=names[1])
    return _ONE.of(name=names[0] if names else "")


def kinds_of(kernels: Sequence[KernelTime]) -> int:
    """Return how many names `names_text` tells or counts."""
    return len(_names(kernels))


def _names(kernels: Sequence[KernelTime]) -> list[str]:
    names = list(dict.fromkeys(kernel.name for kernel in kernels))
    return list(dict.fromkeys(map(_name_without_number, kernels))) if len(names) > 2 else names


def _name_without_number(kernel: KernelTime) -> str:
    match = _NUMBERED.match(kernel.name)
    is_numbered = match is not None and bool(kernel.family) and match[1].endswith(kernel.family)
    return kernel.family if is_numbered else kernel.name


def common_class(kernels: Sequence[KernelTime]) -> str | None:
    """Return the class that all these kernels have; None for several, and for one that says no
    more than their names."""
    if all(kernel.is_copy for kernel in kernels):  # their names say so: Memcpy HtoD
        return None
    found = {kernel.op_class for kernel in kernels}
    op_class = found.pop() if len(found) == 1 else "unknown"
    return None if op_class in _GENERAL else op_class


# An operator of a graph: what it is, with a word in front or not, and its number.
_NUMBERED = re.compile(r"(\w{1,80}?)_?\d{1,6}\Z")
_ONE = Message("{name:name}")
_TWO = Message("{first:name} and {second:name}")
_MORE = Message("{first:name}, {second:name} and {n:count} more")
_WITH_CLASS = Message("{op_class} ({names})")
