"""What is built in for jax, known without jax."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fusescope.analysis.messages import Message

PREFIX = "jax:"
BUILT_IN: Mapping[str, Message] = MappingProxyType(
    {
        "mlp": Message("a normalisation, two products with GELU, a residual, softmax and a gate"),
        "transformer": Message("two encoder blocks with attention written out"),
        "convnet": Message("convolutions with scales, ReLU and residuals"),
        "twice_read": Message("a reduction whose result is read twice"),
    }
)
