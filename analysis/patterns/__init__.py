"""Operator patterns and the conditions under which an engine runs them as one operator.

Written once: advice says with them what blocked a fusion, and a fusion pass can apply them.
"""

from __future__ import annotations

from fusescope.analysis.patterns.activation import (
    FAST_GELU,
    GELU,
    GELU_OTHER_FORM,
    HARD_SWISH,
    QUICK_GELU,
)
from fusescope.analysis.patterns.attention import attentions
from fusescope.analysis.patterns.chain import chains
from fusescope.analysis.patterns.convolution import (
    CONV_ACTIVATION,
    CONV_ADD,
    CONV_ADD_ACTIVATION,
    CONV_BN,
    CONV_CONSTANT,
)
from fusescope.analysis.patterns.matrix_product import GEMM_ACTIVATION, MATMUL_ADD
from fusescope.analysis.patterns.normalisation import (
    LAYER_NORM,
    LAYER_NORM_OTHER_FORM,
    RMS_NORM,
    RMS_NORM_OTHER_FORM,
    SKIP_LAYER_NORM,
)
from fusescope.analysis.patterns.pattern import (
    CHECKED_WITH,
    LEVELS,
    Block,
    Blocker,
    Conditions,
    Fact,
    HeldBack,
    Level,
    Match,
    Pattern,
    find,
)
from fusescope.analysis.patterns.rows import rows
from fusescope.analysis.patterns.view import View

# Larger ones first: an operator belongs to the first pattern that has a use for it.
PATTERNS = (
    LAYER_NORM,
    LAYER_NORM_OTHER_FORM,
    RMS_NORM,
    RMS_NORM_OTHER_FORM,
    FAST_GELU,
    GELU,
    GELU_OTHER_FORM,
    QUICK_GELU,
    HARD_SWISH,
    SKIP_LAYER_NORM,
    CONV_BN,
    CONV_CONSTANT,
    CONV_ADD_ACTIVATION,
    CONV_ADD,
    CONV_ACTIVATION,
    MATMUL_ADD,
    GEMM_ACTIVATION,
)

__all__ = [
    "CHECKED_WITH",
    "CONV_ACTIVATION",
    "CONV_ADD",
    "CONV_ADD_ACTIVATION",
    "CONV_BN",
    "CONV_CONSTANT",
    "FAST_GELU",
    "GELU",
    "GELU_OTHER_FORM",
    "GEMM_ACTIVATION",
    "HARD_SWISH",
    "LAYER_NORM",
    "LAYER_NORM_OTHER_FORM",
    "LEVELS",
    "MATMUL_ADD",
    "PATTERNS",
    "QUICK_GELU",
    "RMS_NORM",
    "RMS_NORM_OTHER_FORM",
    "SKIP_LAYER_NORM",
    "Block",
    "Blocker",
    "Conditions",
    "Fact",
    "HeldBack",
    "Level",
    "Match",
    "Pattern",
    "View",
    "attentions",
    "chains",
    "find",
    "rows",
]
