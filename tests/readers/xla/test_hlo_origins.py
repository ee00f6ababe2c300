"""Originals of XLA's operators, from the program in the profile: names, lines, numbers, groups."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.kinds.graphs import _in_several
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.members import group_by_members
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.operators.members import type_in_name
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.xla.hlo import read_module
from fusescope.analysis.readers.xla.protobuf import DamagedMessage
from fusescope.analysis.readers.xla.steps import Executed, host_runs
from fusescope.analysis.readers.xla.xspace import Programs, read_space
from fusescope.analysis.trace import Trace

SAMPLES = Path(__file__).parents[3] / "sample_traces"
MAKE: dict[str, Any] = runpy.run_path(str(SAMPLES / "formats" / "xplane" / "make.py"))
message: Callable[..., bytes] = MAKE["message"]
TERMS = ("groups", "ungrouped", "slow", "overlap", "dispatch", "profiler_bias", "rounding")
F32 = message((2, 11), (3, 8))


def recorded(name: str) -> Trace:
    path = SAMPLES / "jax" / f"{name}.xplane.pb"
    trace = read(Source(path.name, path.read_bytes()))
    assert isinstance(trace, Trace)
    return trace


def line(
    name: str,
    opcode: str,
    number: int,
    *operands: int,
    op_name: str = "",
    frame: int = 0,
    called: int = 0,
    place: int = 0,
) -> tuple[int, bytes]:
    """An instruction in a computation; `place` is which parameter or element it is."""
    metadata = message((2, op_name), (15, frame)) if op_name else b""
    parts: list[tuple[int, object]] = [(1, name), (2, opcode), (3, F32), (35, number)]
    parts += [(7, metadata)] if metadata else []
    parts += [(36, operand) for operand in operands]
    parts += [(38, called)] if called else []
    parts += [(9, place)] if opcode == "parameter" else [(13, place)]
    return 2, message(*parts)


def program(*computations: bytes, frames: bytes = b"") -> dict[str, tuple[str, ...] | None]:
    """The originals that are read of each instruction; None where nothing is said."""
    parts = [(3, one) for one in computations]
    data = message((1, message((1, "jit_f"), *parts, (17, frames))))
    found = read_module(memoryview(data))
    return {
        name: told.members.members if told.members and told.members.kind == "parts" else None
        for name, told in found.items()
    }


def computation(number: int, root: int, *lines: tuple[int, bytes]) -> bytes:
    return message((1, f"c{number}"), *lines, (5, number), (6, root))


def test_every_operator_of_a_recorded_pair_is_in_one_group_or_was_put_in() -> None:
    sides = [side_of_trace(recorded(name)) for name in ("unfused", "fused")]
    fusion = group_by_members(*sides)
    assert fusion is not None and fusion.source == "members"
    counted = Counter(
        (
            tuple(sorted(op.op_type for op in group.original)),
            len(group.baseline),
            len(group.candidate),
            group.kind,
        )
        for group in fusion.groups
    )
    # Each of the two blocks: x @ w; + bias, tanh; |y| summed by a library in both; and
    # x + y / (1 + …), of which the fused program makes two kernels that both divide.
    assert counted == {
        (("dot_general",), 1, 1, "kept"): 2,
        (("add", "tanh"), 3, 1, "fused"): 2,
        (("abs", "reduce_sum"), 1, 1, "kept"): 2,
        (("add", "add", "div"), 5, 2, "fused"): 2,
    }
    assert fusion.mapped_nodes == fusion.original_nodes == 16
    assert [op.name for op in fusion.inserted[0]] == ["wrapped_broadcast.1"]
    for number, side in enumerate(sides):
        grouped = [op.name for g in fusion.groups for op in (g.baseline, g.candidate)[number]]
        assert sorted([*grouped, *(op.name for op in fusion.inserted[number])]) == sorted(
            side.trace.texts("name")
        )


def test_an_original_has_its_line_and_which_of_several_it_is() -> None:
    trace = recorded("fused")
    members = dict(zip(trace.texts("name"), trace.texts("members"), strict=True))
    source = (SAMPLES / "jax" / "record.py").read_text().splitlines()
    row = next(n for n, text in enumerate(source, start=1) if "jnp.tanh" in text)
    call = next(n for n, text in enumerate(source, start=1) if "x = block" in text)
    at = f"record.py:{row}:{{}} < record.py:{call}:12 ({{}} of 2)"
    assert members["add_tanh_fusion.1"].split(" + ") == [
        f"jit(model)/add {at.format(17, 1)}", f"jit(model)/tanh {at.format(8, 1)}",
    ]  # fmt: skip
    assert members["add_tanh_fusion"] == members["add_tanh_fusion.1"].replace("(1 of", "(2 of")


def test_the_gains_of_the_pair_add_up_and_its_runs_are_the_steps() -> None:
    sides = [side_of_trace(recorded(name)) for name in ("unfused", "fused")]
    for side in sides:
        assert side.trace.runs["kind"].tolist() == ["step"] * 6
        assert side.trace.calls["run"].notna().all()
    whole = compare(*sides).ledger.reconciliation
    terms = [getattr(whole, f"{term}_ns") or 0 for term in TERMS]
    assert sum(terms) == whole.delta_ns  # to the ns


def test_layers_of_one_line_are_numbered_along_the_path() -> None:
    """x -> dot -> add bias -> dot -> add bias, all of two lines; a bias is of the add it goes into,
    and of a product that two lines make of one value neither comes first."""
    entry = computation(
        1, 9,
        line("x", "parameter", 1), line("w", "parameter", 2, place=1),
        line("dot.1", "dot", 3, 1, 2, op_name="jit(f)/dot"),
        line("bias.1", "broadcast", 4, 2, op_name="jit(f)/add"),
        line("add.1", "add", 5, 3, 4, op_name="jit(f)/add"),
        line("dot.2", "dot", 6, 5, 2, op_name="jit(f)/dot"),
        line("bias.2", "broadcast", 7, 2, op_name="jit(f)/add"),
        line("add.2", "add", 8, 6, 7, op_name="jit(f)/add"),
        line("both", "fusion", 9, 8, 5, called=2),
    )  # fmt: skip
    inside = computation(
        2, 4,
        line("p", "parameter", 1), line("q", "parameter", 2, place=1),
        line("left", "tanh", 3, 1, op_name="jit(f)/tanh"),
        line("right", "tanh", 5, 2, op_name="jit(f)/tanh"),
        line("sum", "add", 4, 3, 5, op_name="jit(f)/sum"),
    )  # fmt: skip
    found = program(inside, entry)
    assert {name: told for name, told in found.items() if told} == {
        "dot.1": ("jit(f)/dot (1 of 2)",), "dot.2": ("jit(f)/dot (2 of 2)",),
        "bias.1": ("jit(f)/add (1 of 2)",), "bias.2": ("jit(f)/add (2 of 2)",),
        "add.1": ("jit(f)/add (1 of 2)",), "add.2": ("jit(f)/add (2 of 2)",),
        "both": ("jit(f)/tanh", "jit(f)/sum"),
    }  # fmt: skip


def test_an_operator_of_many_instructions_is_one_and_what_has_no_name_joins_its_reader() -> None:
    entry = computation(
        1, 7,
        line("x", "parameter", 1),
        line("one", "multiply", 2, 1, 1, op_name="jit(f)/erf"),
        line("two", "add", 3, 2, 2, op_name="jit(f)/erf"),
        line("helper", "negate", 4, 3),
        line("three", "add", 5, 4, 3, op_name="jit(f)/erf"),
        line("copy", "copy", 6, 5),
        line("out", "tuple", 7, 6),
    )  # fmt: skip
    found = program(entry)
    erf = ("jit(f)/erf",)
    assert [found[name] for name in ("one", "two", "helper", "three", "copy")] == [erf] * 5
    assert found["x"] is None and found["out"] is None


def test_loops_calls_and_elements_of_tuples_are_followed() -> None:
    body = computation(3, 2, line("i", "parameter", 1),
                       line("step", "add", 2, 1, op_name="jit(f)/while/body/add"))  # fmt: skip
    called = computation(4, 2, line("a", "parameter", 1),
                         line("inner", "sine", 2, 1, op_name="jit(f)/sin"))  # fmt: skip
    pair = computation(
        5, 4, line("b", "parameter", 1),
        line("first", "sine", 2, 1, op_name="jit(f)/sin"),
        line("second", "cosine", 3, 1, op_name="jit(f)/cos"),
        line("both", "tuple", 4, 2, 3),
    )  # fmt: skip
    entry = computation(
        1, 9,
        line("x", "parameter", 1),
        line("call", "call", 2, 1, called=4),
        line("fusion", "fusion", 3, 2, called=5),
        line("of_sine", "get-tuple-element", 4, 3, place=0),
        line("of_cosine", "get-tuple-element", 5, 3, place=1),
        line("third", "sine", 6, 4, op_name="jit(f)/sin"),
        line("again", "sine", 7, 5, op_name="jit(f)/sin"),
        line("loop", "while", 9, 6, 7, op_name="jit(f)/while", called=3),
    )  # fmt: skip
    found = program(body, called, pair, entry)
    assert found["call"] == ()  # what it runs has rows of its own
    assert found["inner"] == ("jit(f)/sin (1 of 2)",)  # directly followed by the next sine
    assert found["fusion"] == ("jit(f)/sin (1 of 2)", "jit(f)/cos")
    assert found["third"] == ("jit(f)/sin (1 of 2)",)
    assert found["again"] == ("jit(f)/sin (2 of 2)",)  # a cosine lies between
    assert found["loop"] == ("jit(f)/while",) and found["step"] == ("jit(f)/while/body/add",)


def test_frames_end_at_the_compiled_function_and_show_no_folder() -> None:
    frames = message(
        (1, "/home/someone/model.py"), (1, "C:\\work\\main.py"),
        (2, "layer"), (2, "Model.f"), (2, "<module>"),
        (3, message((1, 1), (2, 1), (3, 8), (4, 3))), (3, message((1, 1), (2, 2), (3, 20), (4, 7))),
        (3, message((1, 2), (2, 3), (3, 99), (4, 1))),
        (4, message((1, 3))), (4, message((1, 2), (2, 1))), (4, message((1, 1), (2, 2))),
        (4, message((1, 1), (2, 4))), (4, message((1, 1), (2, 99))),
    )  # fmt: skip

    def named(op_name: str, frame: int) -> str:
        made = line("a", "add", 1, op_name=op_name, frame=frame)
        (told,) = program(computation(1, 1, made), frames=frames).values()
        assert told is not None
        return told[0]

    assert named("jit(f)/add", 3) == "jit(f)/add model.py:8:3 < model.py:20:7"
    assert named("jit(g)/add", 3) == "jit(g)/add model.py:8:3"
    assert named("jit(f)/a + b", 1) == "jit(f)/a+b main.py:99:1"
    # A frame that calls itself, and frames that are not there.
    assert named("jit(f)/add", 4) == named("jit(f)/add", 5) == "jit(f)/add model.py:8:3"
    assert named("jit(f)/add", 77) == "jit(f)/add"


def test_programs_without_names_or_that_lead_in_circles_say_nothing() -> None:
    assert program(computation(1, 1, line("a", "add", 1))) == {"a": None}
    ring = computation(1, 1, line("a", "fusion", 1, 1, called=1, op_name="jit(f)/add"))
    assert program(ring) == {"a": None}
    # Each computation calls the next twice: 2^40 instructions when opened.
    deep = [
        computation(
            n, 3, line(f"p{n}", "parameter", 1),
            line(f"a{n}", "fusion", 2, 1, called=n + 1),
            line(f"b{n}", "fusion", 3, 2, called=n + 1),
        )
        for n in range(1, 41)
    ]  # fmt: skip
    leaf = computation(41, 1, line("leaf", "add", 1, op_name="jit(f)/add"))
    assert program(*deep, leaf)["a1"] is None
    wide = [line("t0", "tuple", 1)]
    for n in range(2, 400):
        wide.append(line(f"t{n}", "tuple", n, *[n - 1] * 40))
    assert program(computation(1, 399, *wide, line("a", "add", 400, 399, op_name="jit(f)/x")))


@given(st.integers(0, 30_000), st.integers(0, 255), st.integers(1, 9))
def test_a_damaged_program_is_read_or_refused(at: int, byte: int, count: int) -> None:
    data = (SAMPLES / "jax" / "fused.xplane.pb").read_bytes()
    planes, _, _ = read_space(Source("x", data))
    whole = bytearray(max(Programs(planes)._protos.values(), key=len))
    for step in range(count):
        whole[(at + step * 977) % len(whole)] = byte
    try:
        for told in read_module(memoryview(bytes(whole))).values():
            assert told.members is None or len(told.members.members) <= 256
    except DamagedMessage:
        pass


def test_runs_are_steps_that_hold_whole_executions_else_executions_else_none() -> None:
    def call(start: int, program: int, execution: int, dur: int = 10) -> Executed:
        return Executed(start, dur, program, execution)

    steps = [(0, 100, "s0"), (100, 200, "s1")]
    calls = [call(10, 1, 7), call(50, 1, 7), call(110, 1, 8)]
    assert host_runs(steps, calls) == (["s0", "s0", "s1"], {"s0": (0, 100), "s1": (100, 200)})
    # The host ran ahead: execution 7 ends in the second step.
    late = [call(90, 1, 7), call(120, 1, 7), call(140, 1, 8), call(160, 2, 9, 1)]
    assert host_runs(steps, late) == (
        ["execution 7", "execution 7", "execution 8", None],
        {"execution 7": (90, 130), "execution 8": (140, 150)},
    )
    each_its_own = [call(10, 1, 7), call(20, 2, 8), call(30, 3, 9)]
    assert host_runs([], each_its_own) == ([None] * 3, {})
    assert host_runs([], []) == ([], {})


def test_parts_of_one_original_are_not_taken_for_repeated_work() -> None:
    subject = type("Subject", (), {"operators": recorded("unfused").operators})()
    assert _in_several(subject) == "no_whole_members"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jit(f)/jit(_var)/reduce_sum a.py:1:2 < b.py:3:4 (1 of 2)", "reduce_sum"),
        ("jit(f)/while/body/dot_general", "dot_general"),
        ("jit(f)/transpose(jvp(x))/mul", "mul"),
        ("jit(f)/<b>", ""),
    ],
)
def test_the_type_in_a_name_of_jax(name: str, expected: str) -> None:
    assert type_in_name(name) == expected
