"""Bytes of operators on single values, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.roofs import under_roofs
from fusescope.analysis.readers.building.pointwise_bytes import pointwise_bytes
from tests.product_traces import Pointwise, Product, traced_side


@pytest.mark.parametrize(
    ("op", "inputs", "moved"),
    [
        ("aten::silu", "bfloat16[4,8]", (64, 64)),
        ("aten::add_", "float32[4,8]; float32[4,8]", (256, 128)),
        ("aten::mul", "bfloat16[4,1]; bfloat16[8]", (8 + 16, 64)),  # broadcast to [4, 8]
        ("aten::mul", "bfloat16[4,8]; float32[4,1]", (64 + 16, 128)),  # in the wider type
        ("aten::mul", "bfloat16[4,8]; float64[]", (64 + 8, 64)),  # a number keeps the type
        ("aten::add", "float16[4]; bfloat16[4]", (16, 16)),
        ("aten::add", "int64[4]; float16[4]", (32 + 8, 8)),
        ("aten::copy_", "float32[4,8]; bfloat16[4,8]", (64, 128)),  # into the first
        ("aten::mul", "bfloat16[4,8]; bfloat16[3]", None),  # no such product
        ("aten::cat", "bfloat16[4]; bfloat16[4]", None),
        ("aten::mul", "?[4]; float32[4]", None),
        ("aten::mul", "", None),
        ("mine::mul", "float32[4]", None),
    ],
)
def test_every_place_counts_once(op: str, inputs: str, moved: tuple[int, int] | None) -> None:
    assert pointwise_bytes(op, inputs) == moved


def test_a_kernel_has_the_bytes_of_an_operator_that_it_is_the_whole_of() -> None:
    """2 · 4096 · 4096 numbers of 2 bytes read and 4096 · 4096 written in 50 µs: 2.01 TB/s."""
    added = Pointwise("aten::add", "c10::BFloat16", 50, ((4096, 4096), (4096, 4096)))
    product = Product("nvjet_a", "c10::BFloat16", 600, 64, 64, 64)
    side = traced_side("unknown", added, product)
    table = under_roofs(Assumptions(), side).operators
    assert table["bytes"].tolist() == [3 * 2 * 4096**2, 3 * 2 * 64**2]
    assert table["attained_bytes_per_s"][0] == pytest.approx(3 * 2 * 4096**2 / 50e-6)
    several = traced_side("unknown", added._replace(kernels=2))
    assert under_roofs(Assumptions(), several).operators["bytes"].isna().all()


@given(st.text(max_size=20), st.text(alphabet="float32[]; ,0123456789?", max_size=60))
def test_any_text_is_answered(name: str, inputs: str) -> None:
    for op in (f"aten::{name}", "aten::add", "aten::copy_"):
        found = pointwise_bytes(op, inputs)
        assert found is None or (found[0] >= 0 and found[1] >= 0)
