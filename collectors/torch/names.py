"""What is built in for torch, known without torch."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fusescope.analysis.messages import Message

PREFIX = "torch:"
RUNNABLE = "fx_graph_runnable.py"  # as torch calls the graph that it compiled, as a program
CUDA_GRAPH = "reduce-overhead"  # a variant whose kernels a graph of the device launches
AUTOTUNED = "max-autotune"
WITHOUT = "without:"  # a variant that is fused but for one kernel
BUILT_IN: Mapping[str, Message] = MappingProxyType(
    {
        "mlp": Message("LayerNorm, two linear layers with GELU, a residual, softmax and a gate"),
        "transformer": Message("two encoder blocks with attention written out"),
        "convnet": Message("convolutions with batch normalisation and residuals"),
        "twice_read": Message("a reduction whose result is read twice"),
    }
)
