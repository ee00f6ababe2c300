"""The explanation of two traces agrees with the verdict and the tables that stand beside it."""

from __future__ import annotations

import pytest

from analysis.compare import compare
from analysis.compare.comparison import Comparison
from analysis.compare.side import side_of_trace
from analysis.trace import Trace
from analysis.wording.explanation import leading_sentence
from tests.step_traces import Kernel, steps_of

NORM = Kernel("layer_norm_kernel", 5, "normalisation")
PRODUCT = Kernel("gemm_qkv", 40, "matrix_product")
STEP = (NORM, PRODUCT) * 8  # 360 us


def compared(before: Trace, after: Trace) -> Comparison:
    return compare(side_of_trace(before), side_of_trace(after))


@pytest.mark.parametrize(
    ("steps", "marked", "text"),
    [
        (1, True, "worth 1 % of a step. Its kernels take 360 µs, before 360 µs."),
        (1, False, "worth 1 % of the file. Its kernels take 360 µs, before 360 µs."),
    ],
)
def test_no_noise_is_claimed_beside_an_unknown_one(steps: int, marked: bool, text: str) -> None:
    step = [STEP] * steps
    comparison = compared(steps_of(step, marked=marked), steps_of(step, marked=marked))
    assert comparison.explanation is not None
    sentence = leading_sentence(comparison.explanation)
    assert sentence.startswith("No change stands out: ") and sentence.endswith(text)
    assert comparison.verdict.interval is None and "noise" not in sentence
