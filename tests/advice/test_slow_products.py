"""Rates of matrix products and collectives: which product is slower than the others, by hand."""

from __future__ import annotations

import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.roofs import largest_products, under_roofs
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.wording import product_sentences
from fusescope.analysis.wording.findings import limit_parts, remedy_text, why_text
from tests.advice.traces import of_code
from tests.product_traces import Collective, Product, traced_side

BF16 = "c10::BFloat16"
# 2 · 4096^3 are 137.4 GFLOP: 229 TFLOP/s in 600 µs, 115 in 1200; twice as wide in 1200 µs 229.
FAST = Product("nvjet_tst_128x256_a", BF16, 600, 4096, 4096, 4096)
WIDE = Product("nvjet_tst_256x128_b", BF16, 1200, 4096, 4096, 8192)
SLOW = Product("nvjet_tst_64x64_c", BF16, 1200, 4096, 4096, 4097)
WORK = 2 * 4096**3


def test_a_product_below_the_rate_of_the_others() -> None:
    """The others do 3 · 137.4 GFLOP in 1.8 ms, 229 TFLOP/s: the slow one would take 600 of its
    1200 µs (and 4097 columns instead of 4096)."""
    found = findings(Subject(traced_side("unknown", FAST, WIDE, SLOW)))
    one = of_code(found, "slow_product")
    assert one is not None and one.at_most_ns is not None
    assert one.values["rate"] == pytest.approx(2 * 4096 * 4096 * 4097 / 1200e-6)
    assert one.values["others"] == pytest.approx(3 * WORK / 1800e-6)
    assert one.at_most_ns == pytest.approx(600e3, rel=1e-3)
    assert one.names == (SLOW.kernel,)
    told = "".join(part.text for part in limit_parts(one))
    assert "bfloat16[4096,4096]; bfloat16[4096,4097]" in told
    assert "115 TFLOP/s" in told and "229 TFLOP/s" in told


@pytest.mark.parametrize(
    "other",
    [
        SLOW._replace(us=650),  # 8 % slower
        SLOW._replace(data_type="float"),  # another data type
        SLOW._replace(m=32, us=900),  # reads its weights: 32 FLOP/B
        FAST,  # the same product again
    ],
)
def test_what_has_a_reason_to_be_slower_is_not_named(other: Product) -> None:
    found = findings(Subject(traced_side("unknown", FAST, WIDE, other)))
    assert of_code(found, "slow_product") is None


def test_one_product_alone_has_nothing_to_be_held_against() -> None:
    assert of_code(findings(Subject(traced_side("unknown", SLOW))), "slow_product") is None


def test_the_largest_products_with_their_rates() -> None:
    side = traced_side("NVIDIA H100 80GB HBM3", FAST, WIDE, SLOW)
    under = under_roofs(Assumptions(), side)
    found = largest_products(by_operator(side.trace), under, 2)
    assert [one.per_run_ns for one in found] == [1200e3, 1200e3]
    assert found[0].of_peak == pytest.approx(2 * WORK / 1200e-6 / 989.4e12)
    (first, _) = product_sentences(found)  # 229.06 of 989.4 TFLOP/s are 23.15 %
    assert "1.20 ms" in first and "229 TFLOP/s" in first and "~23.2 % of the peak" in first
    unknown = traced_side("NVIDIA H100", FAST)
    alone = largest_products(by_operator(unknown.trace), under_roofs(Assumptions(), unknown), 2)
    assert "peak" not in product_sentences(alone)[0]


def test_a_collective_has_the_rate_of_its_message() -> None:
    """8 816 192 numbers of 2 bytes in 9000 µs are 1.96 GB/s; gathered ones count as received."""
    reduced = Collective("allreduce", "BFloat16", 9000, 8_816_192, 8_816_192)
    gathered = Collective("_allgather_base", "Float", 1000, 1000, 8000)
    side = traced_side("unknown", reduced, gathered)
    table = under_roofs(Assumptions(), side).operators
    rates = table["attained_bytes_per_s"].tolist()
    assert rates == pytest.approx([2 * 8_816_192 / 9000e-6, 4 * 8000 / 1000e-6])
    one = of_code(findings(Subject(side)), "communication")
    assert one is not None
    assert one.values["rate"] == pytest.approx((2 * 8_816_192 + 32_000) / 10_000e3)
    assert "1.77 GB/s" in why_text(one) and "wait for the last rank" in why_text(one)


def test_a_collective_without_a_type_has_no_rate() -> None:
    side = traced_side("unknown", Collective("allreduce", "", 9000, 100, 100))
    assert under_roofs(Assumptions(), side).operators["attained_bytes_per_s"].isna().all()
    one = of_code(findings(Subject(side)), "communication")
    assert one is not None and "rate" not in one.values


def test_a_device_is_not_told_to_use_other_threads() -> None:
    """115 of 989.4 TFLOP/s are 11.6 %, below 30 %; 229 are 23.2 %."""
    one = of_code(findings(Subject(traced_side("NVIDIA H100 80GB HBM3", SLOW))), "low_utilisation")
    assert one is not None
    assert one.values["of_roof"] == pytest.approx(2 * 4096 * 4096 * 4097 / 1200e-6 / 989.4e12)
    assert "thread" not in why_text(one) + remedy_text(one)
    assert "autotuning" in remedy_text(one)
    quick = SLOW._replace(us=420)  # 327 TFLOP/s, 33.1 % of what the datasheet has
    found = findings(Subject(traced_side("NVIDIA H100 80GB HBM3", quick)))
    assert of_code(found, "low_utilisation") is None
