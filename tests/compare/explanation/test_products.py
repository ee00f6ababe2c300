"""Matrix products of two phases of serving: which of a layer they are, their rates, what the
slowest could win."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusescope.analysis import units
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.explanation.explanation import Explanation, UnitTimes
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.compare.explanation.products import faster, products_of, products_of_phases
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.operators.factors import Factors
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Diagnostic, Trace
from fusescope.analysis.wording.explanation.product_table import basis_text
from fusescope.analysis.wording.explanation.works import phases_sentences
from fusescope.analysis.work_units import units_of
from fusescope.analysis.work_units.work import Work
from tests.conftest import SHARED_TRACES
from tests.module_traces import Launch, trace_of
from tests.step_traces import Kernel, steps_of

ROWS, HIDDEN, INNER = 2048, 1024, 3072
TYPE = "bfloat16[{},{}]"


def side_of(trace: Trace) -> ExplainedSide:
    return ExplainedSide.of(trace, units_of(trace))


def product(name: str, us: float, inputs: int, outputs: int) -> Kernel:
    shapes = f"{TYPE.format(ROWS, inputs)}; {TYPE.format(inputs, outputs)}"
    return Kernel(name, us, "matrix_product", by="aten::mm", inputs=shapes)


LAYER = (
    Kernel("norm", 2, "normalisation"),
    product("gemm_a", 10, HIDDEN, 1536),
    Kernel("flash", 8, "attention"),
    product("gemm_a", 7, HIDDEN, HIDDEN),
    product("gemm_b", 60, HIDDEN, 2 * INNER),
    Kernel("silu", 3, "activation"),
    product("gemm_a", 20, INNER, HIDDEN),
)


def test_products_of_layers_are_named_by_order_and_sizes() -> None:
    """6 layers; gate/up: 2 · 2048 · 1024 · 6144 operations in 60 us are 429 TFLOP/s."""
    found = products_of(side_of(steps_of([LAYER * 6] * 2)))
    assert [(each.projection, each.count, each.ns) for each in found] == [
        ("gate_up", 6, 360_000), ("down", 6, 120_000), ("qkv", 6, 60_000),
        ("attention_output", 6, 42_000),
    ]  # fmt: skip
    assert {each.evidence for each in found} == {"ordered"}
    assert found[0].flops_per_s == pytest.approx(2 * 2048 * 1024 * 6144 / 60e-6)
    assert found[0].computes


def test_the_slowest_product_could_reach_the_rate_of_the_others() -> None:
    """The others do 2 · 2048 · (1536 + 1024 + 3072) · 1024 in 37 us a layer."""
    found = faster(products_of(side_of(steps_of([LAYER * 6] * 2))))
    assert found is not None
    assert found.product.projection == "gate_up"
    rate = 2 * 2048 * 1024 * (1536 + 1024 + 3072) / 37e-6
    assert found.others_per_s == pytest.approx(rate)
    needed = 2 * 2048 * 1024 * 6144 / rate * 1e9
    assert found.ns == pytest.approx(6 * (60_000 - needed), abs=1)


def test_products_as_fast_as_the_others_win_nothing() -> None:
    even = [Product(kind, "", "g", 1, ns, Factors(4096, 1024, 1024, 2), "named")
            for kind, ns in (("up", 100), ("down", 110))]  # fmt: skip
    assert faster(even) is None  # type: ignore[arg-type]
    few = [Product(None, "", "g", 1, ns, Factors(8, 1024, 1024, 2), "named") for ns in (100, 900)]
    assert faster(few) is None, "memory sets the rate of few rows"


def decoding(world: tuple[tuple[int, ...], ...] = ()) -> Trace:
    """Two products of a layer in their modules, 8 layers, without shapes."""
    launches = []
    for at in range(8):
        layer = ("Net_0", f"Layer_{at}")
        launches += [
            Launch((*layer, f"MLP_{at}", f"gate_up_proj_{at}"), "aten::mm", world, 30, "gemm_x"),
            Launch((*layer, f"MLP_{at}", f"down_proj_{at}"), "aten::mm", world, 20, "gemm_y"),
        ]
    return trace_of(launches)


def test_products_of_a_replayed_graph_are_known_by_their_order() -> None:
    """Their modules are those of the same kernels elsewhere, which the table says."""
    note = Diagnostic("info", "graphs_launched", 16, values={"named": 16, "share": 1.0})
    replayed = products_of(side_of(replace(decoding(), diagnostics=(note,))))
    own = products_of(side_of(decoding()))
    assert {each.evidence for each in replayed} == {"ordered"}
    assert {each.evidence for each in own} == {"named"}
    assert basis_text((replayed, own)).endswith(
        "The products of the baseline are told apart by their order."
    )
    assert "order" not in basis_text((own, own))
    known = basis_text((own, own), "AMD Instinct MI300X").replace(units.APART, " ")
    assert "MI300X reads at most 5 300 GB/s and computes at most 1 307 TFLOP/s" in known
    assert "at most" not in basis_text((own, own), "some device")


def test_weights_without_shapes_are_those_of_the_other_phase() -> None:
    """4 rows through weights of 256 x 512 floats in 30 us: 512 KiB / 30 us."""
    prefill = trace_of(
        [
            Launch(("Net_0", f"Layer_{at}", f"MLP_{at}", f"gate_up_proj_{at}"), "aten::mm",
                   ((1024, 256), (256, 512)), 90, "gemm_z")
            for at in range(8)
        ]
    )  # fmt: skip
    before, after = products_of_phases(
        (side_of(decoding()), side_of(prefill)),
        (Work("decode", 4, 4), Work("prefill", 2, 1024)),
    )
    up, down = before
    assert (up.projection, up.is_of_other, up.evidence) == ("gate_up", True, "named")
    assert up.factors == Factors(4, 256, 512, 4)
    assert up.weight_bytes_per_s == pytest.approx(256 * 512 * 4 / 30e-6)
    assert (down.projection, down.factors, down.weight_bytes_per_s) == ("down", None, None)
    assert not after[0].is_of_other


UNIT = UnitTimes(
    "annotation", "step", "named", (1, 1), 10_000, 500_000,
    (Work("decode", 32, 32), Work("prefill", 15, 4096)), (10_000, 500_000), (9, 9), True,
)  # fmt: skip


def test_the_sentences_of_two_phases_have_products_rates_and_what_could_be_won() -> None:
    """Gate/up takes 300 us for 2 · 4096 · 1024 · 6144 operations, down 100 us for half of them."""
    weights = Factors(4096, 1024, 6144, 2), Factors(4096, 3072, 1024, 2)
    after = (
        Product("gate_up", "", "g", 1, 300_000, weights[0], "named"),
        Product("down", "", "g", 1, 100_000, weights[1], "named"),
    )
    before = (Product("gate_up", "", "g", 2, 8_000, Factors(32, 1024, 6144, 2), "named", True),)
    told = " ".join(
        map(str, phases_sentences(Explanation("not_comparable", UNIT, difference="phases",
                                              products=(before, after))))
    ).replace("**", "")  # fmt: skip
    assert (
        "Matrix products take 80.0 % of the device's time in the baseline and 80.0 % in the "
        "candidate." in told
    )
    assert "the baseline's file has no shapes" in told.lower()
    # at 258 TFLOP/s it takes 200 us
    assert "In the candidate gate/up could gain most: at the 258 TFLOP/s" in told
    assert "it would take 100 µs less" in told


def test_decoding_and_prefill_of_a_real_model() -> None:
    folder = SHARED_TRACES / "third_party" / "kineto"
    names = ("sglang_Qwen3-8B_decode.json.gz", "sglang_Qwen3-8B_prefilldecode.json.gz")
    if not all((folder / name).exists() for name in names):
        pytest.skip("the traces of serving are not there")
    traces = [read_path(folder / name) for name in names]
    found = compare(*(side_of_trace(each) for each in traces if isinstance(each, Trace)))
    assert found.explanation is not None
    before, after = found.explanation.products
    kinds = ["gate_up", "down", "qkv", "attention_output", "lm_head"]
    assert [each.projection for each in before] == [each.projection for each in after] == kinds
    rates = [each.flops_per_s or 0 for each in after[:4]]
    assert rates == pytest.approx([457e12, 583e12, 543e12, 629e12], rel=0.01)
    assert before[0].weight_bytes_per_s == pytest.approx(3.0e12, rel=0.01)
    best = faster(after)
    assert best is not None and best.ns == pytest.approx(51.4e6, rel=0.01)
    sides = found.explanation.sides
    assert sides is not None
    assert (sides[0].graph_call, sides[0].graph_kernels) == ("hipGraphLaunch", 544)
    assert sides[0].host_waits[0].name == "hipMemcpyWithStream"
    assert sides[0].host_waits[0].ns == pytest.approx(463.1e6, rel=0.01)


def test_a_product_of_nothing_has_no_sizes_and_no_rate() -> None:
    nothing = Kernel(
        "gemm", 5, "matrix_product", by="aten::mm", inputs="float32[0,16]; float32[16,0]"
    )
    (found,) = products_of(side_of(steps_of([[nothing]])))
    assert (found.factors, found.flops_per_s, found.computes) == (None, None, False)
    assert faster([found]) is None
