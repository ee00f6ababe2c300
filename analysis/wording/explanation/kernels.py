"""How kernels are named in a sentence: by what engineers call them, and by their names."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.compare.explanation.explanation import KernelTime
from analysis.messages import Message, Said
from analysis.operators.classes import LABELS

_GENERAL = ("unknown", "elementwise", "data_movement")  # classes that say less than the name


def kernel_text(kernels: Sequence[KernelTime]) -> Said:
    """Return the kernels of a change by name, the class in front where it says more: 'softmax
    (cunn_SoftMaxForward)', 'attention (fmha_fwd)'. More than two are counted."""
    op_class, names = common_class(kernels), names_text(kernels)
    return names if op_class is None else _WITH_CLASS.of(op_class=LABELS[op_class], names=names)


def names_text(kernels: Sequence[KernelTime]) -> Said:
    """Return the names of kernels, of more than two the first two and how many others."""
    names = list(dict.fromkeys(kernel.name for kernel in kernels))
    if len(names) > 2:
        return _MORE.of(first=names[0], second=names[1], n=len(names) - 2)
    if len(names) == 2:
        return _TWO.of(first=names[0], second=names[1])
    return _ONE.of(name=names[0] if names else "")


def common_class(kernels: Sequence[KernelTime]) -> str | None:
    """Return the class that all these kernels have; None for several, and for one that says less
    than their names."""
    found = {kernel.op_class for kernel in kernels}
    op_class = found.pop() if len(found) == 1 else "unknown"
    return None if op_class in _GENERAL else op_class


_ONE = Message("{name:name}")
_TWO = Message("{first:name} and {second:name}")
_MORE = Message("{first:name}, {second:name} and {n:count} more")
_WITH_CLASS = Message("{op_class} ({names})")
