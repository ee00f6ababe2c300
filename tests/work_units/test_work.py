"""What names of annotations say of a step: phase, sequences, tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.work_units.work import NO_WORK, Work, work_of


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("step[DECODE bs=32]", Work("decode", 32, 32)),
        ("step[EXTEND bs=15 toks=15360]", Work("prefill", 15, 15360)),
        ("step[prefill bs=2 toks=80]", Work("prefill", 2, 80)),
        ("step[MIXED bs=3 toks=9]", Work("mixed", 3, 9)),
        ("step[TARGET_VERIFY bs=3]", Work(None, 3, None)),
        ("execute_context_1(888)_generation_0(0)", Work("prefill", 1, 888)),
        ("execute_context_0(0)_generation_32(32)", Work("decode", 32, 32)),
        ("execute_context_2(70)_generation_5(5)", Work("mixed", 7, 75)),
        (
            "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)",
            Work("decode", 32, 32),
        ),
        (
            (
                "execute_15360_context_15(sq15360sk15360sqsq15728640sqsk15728640)"
                "_generation_0(sq0sk0sqsq0sqsk0)"
            ),
            Work("prefill", 15, 15360),
        ),
        ("execute_context_0(0)_generation_0(0)", NO_WORK),
        ("ProfilerStep#12", NO_WORK),
        ("", NO_WORK),
    ],
)
def test_names_of_serving_engines_say_what_a_step_processes(name: str, work: Work) -> None:
    assert work_of(name) == work


@given(st.text(max_size=300))
def test_any_text_has_an_answer(name: str) -> None:
    assert isinstance(work_of(name), Work)
    assert isinstance(work_of(f"step[{name} bs=1"), Work)
