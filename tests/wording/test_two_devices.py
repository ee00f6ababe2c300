"""Rates of matrix products that two devices run, by hand."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import (
    ClassTime,
    Explanation,
    IdleTime,
    KernelTime,
    ShapedTime,
    UnitOfSide,
    UnitParts,
)
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.messages import Part
from fusescope.analysis.operators.factors import Factors
from fusescope.analysis.operators.projections import Projection
from fusescope.analysis.wording.explanation import detail_parts, first_parts
from fusescope.analysis.wording.explanation.works import (
    devices_sentence,
    host_limits_said,
    rates_said,
)
from tests.step_traces import Kernel, steps_of

# 2 x 1000 x 1000 x 1000 operations, 2 GFLOP, of which arithmetic sets the rate.
SQUARE = Factors(1000, 1000, 1000, 2)


def pair() -> Explanation:
    found = explain(steps_of([[Kernel("a", 5)]]), steps_of([[Kernel("a", 5)]]))
    assert found is not None
    return found


def product(projection: Projection | None, ms: float, count: int = 10) -> Product:
    return Product(projection, "Linear", "gemm", count, round(ms * 1e6), SQUARE, "named")


def said(before: list[Product], after: list[Product]) -> list[str]:
    found = replace(pair(), products=(tuple(before), tuple(after)))
    return [str(each) for each in rates_said(found)]


def test_products_of_a_layer_are_said_with_their_rates_the_longest_first() -> None:
    """Ten products of 2 GFLOP in 0.1 ms are 200 TFLOP/s; those that take the same are not said,
    and neither are those of another number."""
    before = [product("gate", 0.1), product("down", 0.4), product("q", 0.2), product("k", 0.1)]
    after = [product("gate", 0.2), product("down", 0.2), product("q", 0.2), product("k", 0.9, 5)]
    assert said(before, after) == [
        (
            "Rates of matrix products: down 100 TFLOP/s instead of 50.0 TFLOP/s and gate 100 "
            "TFLOP/s instead of 200 TFLOP/s."
        )
    ]
    assert said(before, before) == []


def test_without_layers_the_products_of_one_shape_are_said() -> None:
    def kernels(ms: float, count: int = 4) -> tuple[ShapedTime, ...]:
        time = KernelTime("gemm", count, round(ms * 1e6), "matrix_product")
        return (ShapedTime(time, "f16[1000,1000]; f16[1000,1000]", 8_000_000_000),)

    found = replace(pair(), kernels=(kernels(0.02), kernels(0.04)))
    assert [str(each) for each in rates_said(found)] == [
        (
            "The 4 matrix products over f16[1000,1000]; f16[1000,1000] run at 200 TFLOP/s instead "
            "of 400 TFLOP/s."
        )
    ]
    assert rates_said(replace(found, kernels=(kernels(0.02), kernels(0.04, 5)))) == []
    assert rates_said(replace(found, kernels=(kernels(0.02), kernels(0.0201)))) == []


def test_each_class_that_computes_much_has_a_figure_of_its_own() -> None:
    """Products 9 -> 11.6 ms, attention 2.7 -> 3.9 ms, all others 20 -> 14 ms; no class is named
    that neither side runs. What limits an unknown class is not said."""
    classes = (
        ClassTime("elementwise", (9, 9), 20_000_000, 14_000_000),
        ClassTime("attention", (4, 4), 2_700_000, 3_900_000),
        ClassTime("matrix_product", (8, 8), 9_000_000, 11_600_000),
    )
    found = replace(pair(), classes=classes)
    assert str(devices_sentence(found)).endswith(
        "take 29.5 ms instead of 31.7 ms per step (−2.20 ms): matrix products 11.6 ms instead of "
        "9.00 ms (+2.60 ms), attention 3.90 ms instead of 2.70 ms (+1.20 ms), all others "
        "(limited by memory) 14.0 ms instead of 20.0 ms (−6.00 ms)."
    )
    assert str(devices_sentence(found, is_brief=True)).endswith(
        "take 29.5 ms instead of 31.7 ms per step (−2.20 ms): matrix products +2.60 ms, attention "
        "+1.20 ms, all others (limited by memory) −6.00 ms."
    )
    talk = ClassTime("communication", (1, 1), 5_000_000, 5_000_000)
    unknown = replace(classes[0], op_class="unknown")
    told = str(devices_sentence(replace(found, classes=(unknown, talk))))
    assert "without communication take 14.0 ms" in told
    assert told.endswith("all of them 14.0 ms instead of 20.0 ms (−6.00 ms).")
    told = str(devices_sentence(replace(found, classes=(unknown, classes[2]))))
    assert told.endswith("all others 14.0 ms instead of 20.0 ms (−6.00 ms).")
    assert str(devices_sentence(replace(found, classes=(talk,)))).endswith("(0 ns).")
    # 10 000 executions of 2 us: starting them takes as long as moving their data.
    short = replace(classes[0], counts=(10_000, 10_000))
    assert "which memory limits" not in str(
        devices_sentence(replace(found, classes=(short,) + classes[1:]))
    )


def test_what_the_brief_sentences_leave_out_is_in_the_details() -> None:
    """Rates and what each class takes on both sides stand in the details, each once, and in the
    sentences that are not brief."""
    products = [product("down", 0.4)], [product("down", 0.2)]
    found = replace(
        pair(),
        outcome="changed",
        has_other_kernels=True,
        classes=(ClassTime("matrix_product", (10, 10), 400_000, 200_000),),
        products=(tuple(products[0]), tuple(products[1])),
    )
    brief, whole = (text_of([first_parts(found, is_brief=short)]) for short in (True, False))
    details = text_of(detail_parts(found))
    for figure in ("down 100 TFLOP/s instead of 50.0 TFLOP/s", "matrix products 200 µs instead of"):
        assert figure not in brief
        assert details.count(figure) == whole.count(figure) == 1
    assert "matrix products −200 µs" in brief
    assert detail_parts(replace(found, has_other_kernels=False)) == []


def text_of(sentences: list[tuple[Part, ...]]) -> str:
    return "".join(part.text for parts in sentences for part in parts)


def test_where_the_host_limits_both_sides_that_is_said_instead_of_rates() -> None:
    """Of 1000 us the device waits 800 and 700 for the host; where it is less than half on one
    side, nothing is said."""

    def side(python_us: int, launching_us: int) -> UnitOfSide:
        idle = (
            IdleTime("python", "train.py", python_us * 1000),
            IdleTime("launching", "", launching_us * 1000),
            IdleTime("queued", "", 50_000),
        )
        waits_ns = (python_us + launching_us + 50) * 1000
        parts = UnitParts(1_000_000 - waits_ns, 0, 0, waits_ns)
        return UnitOfSide(1_000_000, 0, 0, parts, None, None, 0, 0.0, 0.0, 1, idle, 0)

    unit = replace(pair().unit, before_ns=1_000_000, after_ns=1_000_000)
    found = replace(pair(), unit=unit, sides=(side(500, 300), side(300, 400)))
    [one] = host_limits_said(found)
    assert str(one) == (
        "On both sides the host is the limit: the device is idle for 85.0 % of the time in the "
        "baseline and for 75.0 % in the candidate, mostly while the host runs code and launches, "
        "so faster kernels would change little."
    )
    assert host_limits_said(replace(found, sides=(side(500, 300), side(100, 200)))) == []
