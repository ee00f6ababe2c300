"""Programs of XLA as text: read, and taken apart into single instructions. Needs no JAX."""

from __future__ import annotations

import pytest

from fusescope.collectors.jax.module_text import parse_module
from fusescope.collectors.jax.pieces import piece, split
from fusescope.collectors.jax.products import flops_of

PROGRAM = r"""HloModule jit_model, is_scheduled=true, entry_computation_layout={(f32[4,8]{1,0})->f32[8,4]{1,0}}

%region_0.1 (a.1: f32[], b.1: f32[]) -> f32[] {
  %a.1 = f32[] parameter(0)
  %b.1 = f32[] parameter(1)
  ROOT %add.3 = f32[] add(%a.1, %b.1)
}

%inner (p: f32[4,8]) -> f32[4] {
  %p = f32[4,8]{1,0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %sum.2 = f32[4]{0} reduce(%p, %zero), dimensions={1}, to_apply=%region_0.1
}

%fused_computation.7 (q: f32[4,8], r: f32[8,16]) -> (f32[4,16], f32[4]) {
  %q = f32[4,8]{1,0} parameter(0)
  %r = f32[8,16]{1,0} parameter(1)
  %dot.4 = f32[4,16]{1,0} dot(%q, %r), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %copy.4 = f32[4,16]{1,0} copy(%dot.4)
  %nested = f32[4]{0} fusion(%q), kind=kLoop, calls=%inner
  ROOT %both = (f32[4,16]{1,0}, f32[4]{0}) tuple(%copy.4, %nested)
}

ENTRY %main.9 (x.1: f32[4,8], w.1: f32[8,16]) -> f32[8,4] {
  %x.1 = f32[4,8]{1,0} parameter(0)
  %w.1 = f32[8,16]{1,0} parameter(1)
  %one = f32[] constant(1)
  %text = u8[3]{0} constant({1, /*index=1*/2, 3})
  %ynn_fusion = (f32[4,16]{1,0}, /*index=1*/f32[4]{0}) fusion(%x.1, /*index=1*/%w.1), kind=kCustom, calls=%fused_computation.7, backend_config={"kind":"__ynn_fusion","note":"a } b"}
  %first = f32[4,16]{1,0} get-tuple-element(%ynn_fusion), index=0
  %state = (f32[4,16]{1,0}, f32[]) tuple(%first, %one)
  %call.1 = f32[4,8]{0,1} custom-call(%state, %one), custom_call_target="lapack(x, y)", operand_layout_constraints={(f32[4,16]{1,0}, f32[]), f32[]}, metadata={op_name="jit(model)/cholesky" stack_frame_id=3}
  ROOT %bitcast.2 = f32[8,4]{1,0} bitcast(%call.1)
}
"""  # noqa: E501 - as XLA writes it
MODULE = parse_module(PROGRAM)
ENTRY = MODULE.computations["main.9"]


def text_of(name: str) -> tuple[str, tuple[tuple[str, int | None], ...]]:
    made = piece(MODULE, ENTRY, ENTRY.instructions[name])
    return made.text, made.given


def test_instructions_are_read_with_what_they_read() -> None:
    assert (MODULE.entry, ENTRY.root.name) == ("main.9", "bitcast.2")
    assert [one.name for one in ENTRY.parameters] == ["x.1", "w.1"]
    fusion = ENTRY.instructions["ynn_fusion"]
    assert (fusion.opcode, fusion.operands, fusion.is_tuple) == ("fusion", ("x.1", "w.1"), True)
    assert [shape.sizes for shape in fusion.shapes] == [(4, 16), (4,)]
    assert [one.name for one in MODULE.called_by(fusion)] == ["fused_computation.7"]
    assert fusion.attribute("kind") == "kCustom"
    assert ENTRY.instructions["first"].numbers("index") == (0,)
    assert ENTRY.instructions["text"].argument.startswith("{1")
    call = ENTRY.instructions["call.1"]
    assert call.attribute("custom_call_target") == "lapack(x, y)"
    assert (call.op_name, "metadata" in call.rest) == ("jit(model)/cholesky", False)
    assert (call.shapes[0].layout, call.shapes[0].is_plain) == ((0, 1), False)


@pytest.mark.parametrize("text", ["", "HloModule m\n\n%c (a: f32[]) -> f32[] {\n}\n"])
def test_a_text_without_an_entry_is_no_program(text: str) -> None:
    with pytest.raises(ValueError, match="entry"):
        parse_module(text)


def test_a_fusion_is_a_call_of_what_it_computes() -> None:
    text, given = text_of("ynn_fusion")
    assert given == (("x.1", None), ("w.1", None))
    lines = [line.strip() for line in text.splitlines()]
    assert "ROOT %result = (f32[4,16], f32[4]) call(%v0, %v1), to_apply=%c0" in lines
    assert "%v3 = f32[4,16] reshape(%v2)" in lines  # a copy
    assert "%v4 = f32[4] call(%v0), to_apply=%c1" in lines
    assert "ROOT %v2 = f32[4] reduce(%v0, %v1), dimensions={1}, to_apply=%c2" in lines
    assert "fusion" not in text and "backend_config" not in text
    assert text.index("%c2 {") < text.index("%c1 {") < text.index("%c0 {") < text.index("ENTRY")


def test_elements_of_a_tuple_are_given_one_by_one_and_constants_not_at_all() -> None:
    text, given = text_of("call.1")
    assert given == (("state", 0), ("state", 1))
    assert "%v0 = (f32[4,16], f32[]) tuple(%v0_0, %v0_1)" in text
    assert "%v1 = f32[] constant(1)" in text
    assert 'custom_call_target="lapack(x, y)"' in text


def test_a_bitcast_is_the_transposition_that_it_stands_for() -> None:
    """[4, 8] with the first axis fastest lies in memory as [8, 4] does."""
    text, given = text_of("bitcast.2")
    assert given == (("call.1", None),)
    assert "%result_a = f32[8,4] transpose(%v0), dimensions={1,0}" in text
    assert "ROOT %result = f32[8,4] transpose(%result_b), dimensions={0,1}" in text


def test_equal_instructions_are_one_program() -> None:
    again = parse_module(PROGRAM.replace("ynn_fusion", "other.5").replace("inner", "inner.8"))
    entry = again.computations["main.9"]
    other = piece(again, entry, entry.instructions["other.5"])
    assert other.text == text_of("ynn_fusion")[0]


def test_attributes_are_parted_outside_brackets_and_quotes() -> None:
    rest = r'window={size=3x3 pad=1_1x1_1}, target="a, \"b\", c", layout={(f32[], f32[])}'
    assert split(rest) == [
        "window={size=3x3 pad=1_1x1_1}", r'target="a, \"b\", c"', "layout={(f32[], f32[])}",
    ]  # fmt: skip


def test_flops_of_a_fusion_are_those_of_its_products() -> None:
    inside = MODULE.computations["fused_computation.7"]
    parts = [(inside, one) for one in inside.instructions.values()]
    assert flops_of(parts) == 2 * 4 * 16 * 8
    assert flops_of([part for part in parts if part[1].opcode != "dot"]) is None
    convolution = PROGRAM.replace(
        "dot(%q, %r), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "convolution(%q, %r), window={}, dim_labels=bf_io->bf",
    )
    inside = parse_module(convolution).computations["fused_computation.7"]
    assert flops_of([(inside, inside.instructions["dot.4"])]) == 2 * 4 * 16 * 8
