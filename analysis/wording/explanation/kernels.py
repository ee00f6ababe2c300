"""How kernels are named in a sentence: by what engineers call them, and by their names."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.compare.explanation.explanation import KernelTime
from analysis.messages import Message, Said, listed
from analysis.operators.classes import LABELS

_NAMED = 2  # kernels of one sentence
_GENERAL = ("unknown", "elementwise", "data_movement")  # classes that say less than the name


def kernel_text(kernels: Sequence[KernelTime]) -> Message | Said | str:
    """Return the kernels of a change by name, the class in front where it says more: 'softmax
    (cunn_SoftMaxForward)', 'attention (fmha_fwd)'. More than two are counted."""
    names = list(dict.fromkeys(kernel.name for kernel in kernels))
    shown: str | Said = listed(names[:_NAMED])
    if len(names) > _NAMED:
        shown = _MORE.of(first=names[0], second=names[1], n=len(names) - _NAMED)
    found = {kernel.op_class for kernel in kernels}
    if len(found) == 1 and (op_class := found.pop()) not in _GENERAL:
        return _WITH_CLASS.of(op_class=LABELS[op_class], names=shown)
    return shown


_MORE = Message("{first:name}, {second:name} and {n:count} more")
_WITH_CLASS = Message("{op_class} ({names})")
