"""What is built in for MindSpore, known without MindSpore."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fusescope.analysis.messages import Message

PREFIX = "mindspore:"
BUILT_IN: Mapping[str, Message] = MappingProxyType(
    {
        "mynet": Message("x · 2 + 1, the net of MindSpore's tutorial on graph kernels"),
        "mynet_composite": Message("(x · 2)³, then (b - y) · b, a chain of four operators"),
        "add_relu": Message("a sum and ReLU, the end of a residual block"),
        "conv_bn_relu": Message("a convolution with batch normalisation and ReLU"),
        "mobilenetv2": Message("MobileNetV2 (Sandler et al. 2018), width 1.0"),
    }
)
# Flags of graph kernels, by variant. A pattern that there is not keeps every operator apart.
FLAGS: Mapping[str, str] = MappingProxyType(
    {"generated": "--enable_fusion_pattern_only=none", "fused": ""}
)
WITHOUT = "without:"
# Passes of graph kernels that can be left out, in the order they run: the others only convert
# between forms that these need.
PASSES: Mapping[str, str] = MappingProxyType(  # and the stage that each belongs to
    {
        "graph_kernel_expander": "cluster",
        "graph_kernel_cluster": "cluster",
        "reorder_ops": "highlevelopt1",
        "arithmetic_simplify": "highlevelopt1",
        "transform_op_optimizer": "highlevelopt1",
        "shape_ops_splitter": "split",
        "graph_kernel_splitter": "split",
    }
)


def flags_of(variant: str) -> str | None:
    """The flags of graph kernels; None for a variant that has none."""
    if variant.startswith(WITHOUT):
        name = variant.removeprefix(WITHOUT)
        return f"--disable_pass={PASSES[name]}.{name}"
    return FLAGS.get(variant)
