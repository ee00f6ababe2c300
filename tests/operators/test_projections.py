"""Which product of a transformer's layer one is: by modules, and by order and sizes."""

from __future__ import annotations

import pytest

from fusescope.analysis.operators.projections import projection_of, projections_in_order

HIDDEN, INNER = 64, 160


@pytest.mark.parametrize(
    ("modules", "projection"),
    [
        (("Qwen3Model", "Qwen3Attention", "QKVParallelLinear"), "qkv"),
        (("Qwen3Model", "Qwen3Attention", "RowParallelLinear"), "attention_output"),
        (("Qwen3Model", "Qwen2MLP", "MergedColumnParallelLinear"), "gate_up"),
        (("Qwen3Model", "Qwen2MLP", "RowParallelLinear"), "down"),
        (("model", "layers.3", "layers.3.mlp.gate_up_proj"), "gate_up"),
        (("model", "layers.3.self_attn.o_proj", "quant_method"), "attention_output"),
        (("BertLayer", "BertSelfOutput", "Linear"), "attention_output"),
        (("BertLayer", "BertIntermediate", "Linear"), "up"),
        (("LogitsProcessor",), "lm_head"),
        (("Mamba", "RowParallelLinear"), None),  # of neither attention nor MLP
        (("Net", "Linear"), None),
        ((), None),
    ],
)
def test_modules_name_the_product(modules: tuple[str, ...], projection: str | None) -> None:
    assert projection_of(modules) == projection


@pytest.mark.parametrize(
    ("sizes", "projections"),
    [
        (
            [(HIDDEN, HIDDEN), (HIDDEN, 2 * INNER), (INNER, HIDDEN), (HIDDEN, 96)],
            ["attention_output", "gate_up", "down", "qkv"],
        ),
        (
            [(HIDDEN, HIDDEN), (HIDDEN, INNER), (HIDDEN, INNER), (INNER, HIDDEN)]
            + [(HIDDEN, HIDDEN)] * 3,
            ["attention_output", "gate", "up", "down", "q", "k", "v"],
        ),
        (
            [(HIDDEN, HIDDEN), (HIDDEN, INNER), (INNER, HIDDEN), (HIDDEN, 3 * HIDDEN)],
            ["attention_output", "up", "down", "qkv"],
        ),
        # neither the parts of an MLP nor its double
        ([(HIDDEN, HIDDEN), (HIDDEN, INNER + 1), (INNER, HIDDEN), (HIDDEN, 96)], None),
        # not one hidden size
        ([(HIDDEN, HIDDEN), (32, INNER), (INNER, HIDDEN), (HIDDEN, 96)], None),
        # no end of the MLP
        ([(HIDDEN, HIDDEN)] * 4, ["attention_output", "up", "down", "qkv"]),
        ([(HIDDEN, HIDDEN), (HIDDEN, 2 * INNER), (INNER, HIDDEN)], None),
    ],
)
def test_sizes_in_order_name_the_products(
    sizes: list[tuple[int, int]], projections: list[str] | None
) -> None:
    assert projections_in_order(sizes) == projections
