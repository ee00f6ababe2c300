"""Another precision is named as such, by the types of what matrix products multiply."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.metrics.utilisation import number_types
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence
from tests.step_traces import Kernel, steps_of

SENTENCE = "The candidate computes matrix products in "


def model(data_type: str, us: float, *more: Kernel) -> Trace:
    """Two steps of 8 layers: a product of 60 us over this type, and a norm of 20 in float32."""
    layer = (
        Kernel("gemm", us, "matrix_product", "aten::mm", f"{data_type}[64,64]; {data_type}[64,64]"),
        Kernel("norm", 20, "normalisation", "aten::norm", "float32[64,64]"),
    )
    return steps_of([(*layer * 8, *more)] * 2)


def test_half_precision_is_the_cause_that_stands_in_front() -> None:
    found = explain(model("float32", 60), model("bfloat16", 30))
    assert found is not None and found.data_types == ("float32", "bfloat16")
    text = leading_sentence(found)
    assert text.startswith(f"{SENTENCE}bfloat16, the baseline in float32. ")
    values = explanation_values(found)
    assert values is not None
    assert values["data_types"] == {"before": "float32", "after": "bfloat16"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (model("float32", 60), model("float32", 30)),  # the same
        (model("", 60), model("bfloat16", 30)),  # not known of one side
        # Products take 8 · 60 of 2640 us, and then less: their type explains little.
        (model("float32", 60, Kernel("sort", 2000)), model("bfloat16", 30, Kernel("sort", 2000))),
    ],
)
def test_no_precision_is_named_that_the_files_do_not_show_or_that_explains_little(
    before: Trace, after: Trace
) -> None:
    found = explain(before, after)
    assert found is not None and found.data_types is None
    assert SENTENCE not in leading_sentence(found)


def test_two_types_on_one_side_are_no_other_precision() -> None:
    """480 us of products in float32, 300 in float16: 62 %, less than nearly all."""
    half = Kernel("hgemm", 300, "matrix_product", "aten::mm", "float16[64,64]")
    found = explain(model("float32", 60, half), model("float16", 60, half))
    assert found is not None and found.data_types is None


@pytest.mark.parametrize(("products", "said"), [(8, "TF32"), (5, "float32 and TF32")])
def test_tf32_of_an_engine_is_what_its_tactic_says(products: int, said: str) -> None:
    """8 layers of an engine, some of which run on a tactic that multiplies float32 as TF32."""
    tactic = "sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc"

    def engine(data_type: str, us: float) -> Trace:
        layers = [
            Kernel(f"Conv_{at}", us, "convolution", inputs=f"{data_type}[8,8]") for at in range(8)
        ]
        trace = steps_of([layers])
        provider = [tactic if at < products else "ampere_scudnn_128x64" for at in range(8)]
        operators = trace.operators.assign(provider=pd.Categorical(provider))
        return replace(trace, operators=operators)

    single = engine("float32", 60)
    assert number_types(single.operators).tolist() == ["tf32"] * products + ["float32"] * (
        8 - products
    )
    found = explain(single, engine("float16", 25))
    assert found is not None
    text = leading_sentence(found)
    assert f"The candidate computes convolutions in float16, the baseline in {said}." in text
    assert "attention" not in text and "matrix products" not in text
