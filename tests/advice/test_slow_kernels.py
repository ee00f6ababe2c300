"""An optimizer whose operator is slower than its parts: found, priced by hand, and answered."""

from __future__ import annotations

import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.advice.remedies import remedies
from fusescope.analysis.compare.comparison import Comparison
from tests.advice.experiments import compared
from tests.advice.traces import of_code
from tests.pattern_models import Builder


def residual(us: int) -> Comparison:
    """Add + LayerNormalization, which the engine makes one, between two elementwise operators."""
    b = Builder()
    x = b.node("Neg", b.input(1, 4, 16))
    y = b.node("LayerNormalization", b.node("Add", x, b.input(1, 4, 16)), *weights(b))
    model = b.model(b.node("MatMul", b.node("Abs", y), b.weight(16, 16)))
    return compared(model, us={"SkipLayerNormalization": us, "MatMul": 200})


def weights(b: Builder) -> tuple[str, str]:
    return b.weight(16), b.weight(16)


def test_a_kernel_that_is_slower_than_its_parts_would_be() -> None:
    """Neg and Abs read and write 64 floats, 512 bytes, in 10 µs each. It moves three such tensors
    and two of 16 floats, 896 bytes, which take 17.5 µs at that rate: its parts would take 17.5 to
    70 of its 100 µs, 35 by what they move."""
    comparison = residual(100)
    subject = Subject(comparison.candidate, comparison)
    found = findings(subject)
    one = of_code(found, "slow_kernel")
    assert one is not None and one.gain is not None
    assert (one.gain.value, one.gain.low, one.gain.high) == pytest.approx((65e3, 30e3, 82.5e3))
    assert one.values["rate"] == pytest.approx(896 / 100e3)
    assert one.values["others"] == pytest.approx(512 / 10e3)
    assert "SkipLayerNormFusion" in str(one.values["optimizer"])
    asked = {one.variant: one.finding for one in remedies(subject, found)}
    assert "without:SkipLayerNormFusion" in asked
    assert asked["custom:layer_norm"] == "slow_kernel"


def test_a_kernel_that_is_as_fast_as_others_is_none() -> None:
    comparison = residual(60)
    assert of_code(findings(Subject(comparison.candidate, comparison)), "slow_kernel") is None
    alone = Subject(comparison.baseline)
    assert of_code(findings(alone), "slow_kernel") is None, "nothing is optimised there"
