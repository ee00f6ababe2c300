"""What a program of XLA computes in several of its operators. Needs no JAX."""

from __future__ import annotations

from fusescope.collectors.jax.module_text import parse_module
from fusescope.collectors.jax.repeats import recomputed

# Of `y = tanh(x * a) + b; y.sum(0), y.T * 2, (y * b).max()`, as jax 0.10.2 compiles such functions,
# shortened: the addition is copied into three fusions.
PROGRAM = """HloModule jit_model, is_scheduled=true

%region (s: f32[], t: f32[]) -> f32[] {
  %s = f32[] parameter(0)
  %t = f32[] parameter(1)
  ROOT %sum = f32[] add(%s, %t)
}

%region.clone (s.1: f32[], t.1: f32[]) -> f32[] {
  %s.1 = f32[] parameter(0)
  %t.1 = f32[] parameter(1)
  ROOT %sum.1 = f32[] add(%s.1, %t.1)
}

%added (p: f32[256,128], q: f32[128]) -> f32[256,128] {
  %p = f32[256,128]{1,0} parameter(0)
  %q = f32[128]{0} parameter(1)
  %row = f32[256,128]{1,0} broadcast(%q), dimensions={1}
  ROOT %add.8 = f32[256,128]{1,0} add(%p, %row), metadata={op_name="jit(model)/add" stack_frame_id=6}
}

%doubled (p.1: f32[128], q.1: f32[256,128]) -> f32[128,256] {
  %q.1 = f32[256,128]{1,0} parameter(1)
  %p.1 = f32[128]{0} parameter(0)
  %row.1 = f32[256,128]{1,0} broadcast(%p.1), dimensions={1}
  %add.2 = f32[256,128]{1,0} add(%q.1, %row.1), metadata={op_name="jit(model)/add" stack_frame_id=6}
  %two = f32[] constant(2)
  %twos = f32[256,128]{1,0} broadcast(%two), dimensions={}
  %mul.1 = f32[256,128]{1,0} multiply(%add.2, %twos), metadata={op_name="jit(model)/mul"}
  ROOT %turned = f32[128,256]{0,1} transpose(%mul.1), dimensions={1,0}
}

%summed (p.2: f32[256,128], q.2: f32[128], r.2: f32[]) -> f32[128] {
  %p.2 = f32[256,128]{1,0} parameter(0)
  %q.2 = f32[128]{0} parameter(1)
  %r.2 = f32[] parameter(2)
  %row.2 = f32[256,128]{1,0} broadcast(%q.2), dimensions={1}
  %add.3 = f32[256,128]{1,0} add(%p.2, %row.2), metadata={op_name="jit(model)/add" stack_frame_id=6}
  ROOT %total = f32[128]{0} reduce(%add.3, %r.2), dimensions={0}, to_apply=%REGION
}

ENTRY %main (x: f32[256,128], a: f32[128], b: f32[128]) -> (f32[256,128], f32[128,256], f32[128]) {
  %x = f32[256,128]{1,0} parameter(0)
  %a = f32[128]{0} parameter(1)
  %b = f32[128]{0} parameter(2)
  %zero = f32[] constant(0)
  %tanh = f32[256,128]{1,0} tanh(%x)
  %added_fusion = f32[256,128]{1,0} fusion(%tanh, %b), kind=kLoop, calls=%added
  %doubled_fusion = f32[128,256]{0,1} fusion(%b, %tanh), kind=kLoop, calls=%doubled
  %summed_fusion = f32[128]{0} fusion(%tanh, %OTHER, %zero), kind=kLoop, calls=%summed
  ROOT %tuple = (f32[256,128], f32[128,256], f32[128]) tuple(%added_fusion, %doubled_fusion, %summed_fusion)
}
"""  # noqa: E501


def count(other: str = "b", region: str = "region", also: str = "") -> int:
    text = PROGRAM.replace("OTHER", other).replace("REGION", region)
    if also:
        text = text.replace("  ROOT %tuple", f"  {also}\n  ROOT %tuple")
    return recomputed(parse_module(text))


def test_an_addition_in_three_fusions_is_one_operator() -> None:
    assert count() == 1


def test_other_operands_are_another_value() -> None:
    """Two fusions still add the same."""
    assert count("a") == 1
    assert (
        recomputed(parse_module(PROGRAM.replace("OTHER", "a").replace("(%b, %tanh)", "(%a, %x)")))
        == 0
    )


def test_what_one_operator_of_the_code_became_counts_once() -> None:
    """A logistic is a negation, an exponential, an addition and a division."""
    parts = "\n".join(
        f'  %l{i} = f32[4]{{0}} {kind}(%{read}), metadata={{op_name="jit(model)/logistic"}}'
        for i, (kind, read) in enumerate(
            [("negate", "u"), ("exponential", "l0"), ("sine", "l1"), ("cosine", "l2")]
        )
    )
    kinds = [("tanh", "jit(model)/tanh"), ("log", "jit(model)/log")]
    fusions = "\n".join(
        f"%c{i} (u: f32[4]) -> f32[4] {{\n  %u = f32[4]{{0}} parameter(0)\n{parts}\n"
        f'  ROOT %end = f32[4]{{0}} {kind}(%l3), metadata={{op_name="{name}"}}\n}}\n'
        for i, (kind, name) in enumerate(kinds)
    )
    text = (
        f"HloModule m\n\n{fusions}\nENTRY %main (x: f32[4]) -> (f32[4], f32[4]) {{\n"
        "  %x = f32[4]{0} parameter(0)\n"
        "  %f0 = f32[4]{0} fusion(%x), kind=kLoop, calls=%c0\n"
        "  %f1 = f32[4]{0} fusion(%x), kind=kLoop, calls=%c1\n"
        "  ROOT %t = (f32[4], f32[4]) tuple(%f0, %f1)\n}\n"
    )
    assert recomputed(parse_module(text)) == 1


def test_sums_of_other_names_are_the_same_and_what_moves_is_no_work() -> None:
    again = "%again_fusion = f32[128]{0} fusion(%tanh, %b, %zero), kind=kLoop, calls=%again\n"
    second = PROGRAM[PROGRAM.index("%summed (") : PROGRAM.index("ENTRY")]
    second = second.replace("%summed (", "%again (").replace("REGION", "region.clone")
    text = PROGRAM.replace("OTHER", "b").replace("REGION", "region")
    text = text.replace("ENTRY", second + "ENTRY").replace(
        "  ROOT %tuple", f"  {again}  ROOT %tuple"
    )
    assert recomputed(parse_module(text)) == 2  # the addition and the sum


def test_random_numbers_are_never_the_same() -> None:
    drawn = "%{0} = f32[8]{{0}} rng(%zero, %zero), distribution=rng_uniform"
    assert count(also=drawn.format("r1") + "\n  " + drawn.format("r2")) == 1
