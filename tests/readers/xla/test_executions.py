"""Calls of recordings with jax, joined to the graph of what ran."""

from __future__ import annotations

from typing import Any

from fusescope.analysis.graph import Attribute, Graph, Node, Tensor
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.xla.executions import joined

SIZES = {"x": (4, 8), "s": (4,), "w": (8,)}


def node(name: str, reads: str, writes: str, *programs: str) -> Node:
    attributes: dict[str, Attribute] = {"event": name}
    if programs:
        attributes["programs"] = [*programs]
    return Node(
        name, name.partition(".")[0], tuple(reads.split()), (writes,), attributes=attributes
    )


def graph(*nodes: Node) -> Graph:
    names = dict.fromkeys(name for one in nodes for name in (*one.inputs, *one.outputs))
    tensors = tuple(Tensor(name, "float32", SIZES.get(name[0], (4, 8))) for name in names)
    return Graph(nodes, tensors, ("x",), ("y",))


def call(
    name: str, at: int, dur: int = 5, run: Any = 0, of: tuple[int, int] | None = None,
    module: str = "", outputs: str = "float32[4,8]",
) -> dict[str, object]:  # fmt: skip
    return {
        "name": name, "op_type": name, "op_class": "elementwise", "inputs": "", "outputs": outputs,
        "members": "jit(f)/add", "members_source": "parts", "launched_by": "jit(f)/add",
        "device": "CPU", "stream": "python", "start_ns": at, "dur_ns": dur, "span_ns": None,
        "run": run, "execution": of, "module": module,
    }  # fmt: skip


def columns(*calls: dict[str, object]) -> Columns:
    found = Columns()
    for one in calls:
        found.add(**one)
    return found


def named(found: Columns) -> list[tuple[object, object]]:
    return sorted(zip(found["start_ns"], found["name"], strict=True))


def test_instructions_of_a_program_have_the_names_of_its_graph() -> None:
    program = graph(node("fusion.1", "x", "a"), node("dot.2", "a w", "y"))
    same, apart = joined(columns(call("fusion.1", 0), call("dot.2", 9)), program)
    assert (named(same), apart) == ([(0, "fusion.1"), (9, "dot.2")], 0)
    assert "execution" not in same and "module" not in same
    other, apart = joined(
        columns(call("fusion.1", 0), call("copy.7", 9), call("copy.7", 30, run=1)), program
    )
    assert apart == 2 and other.count == 3


EAGER = graph(
    node("sum.0", "x", "s", "reduce_sum:0"), node("sub.0", "x s", "a", "sub:0"),
    node("mul.0", "a a", "b", "mul:0"), node("mul.1", "b w", "c", "mul:1"),
    node("mul.2", "c c", "y", "mul:0"),
)  # fmt: skip


def run_of(run: int, at: int) -> list[dict[str, object]]:
    """As XLA numbers them: 7 and 8 multiply, each execution of a program has the next number."""
    return [
        call("ynn_fusion", at, 9, run, (5, 100 + run), "jit_reduce_sum", "float32[4]"),
        call("broadcast", at + 10, 2, run, (6, -9 + run), "jit_sub"),
        call("subtract", at + 13, 4, run, (6, -9 + run), "jit_sub"),
        call("multiply", at + 20, 5, run, (7, 40 + 2 * run), "jit_mul"),
        call("multiply", at + 30, 6, run, (8, 70 + run), "jit_mul"),
        call("multiply", at + 40, 7, run, (7, 41 + 2 * run), "jit_mul"),
    ]


def test_an_execution_of_a_program_is_one_call_of_its_operator() -> None:
    found, apart = joined(columns(*run_of(0, 0), *run_of(1, 100)), EAGER)
    assert apart == 0
    names = ["sum.0", "sub.0", "mul.0", "mul.1", "mul.2"]
    assert [name for _, name in named(found)] == names * 2
    durations = dict(zip(found["name"], found["dur_ns"], strict=True))
    assert durations["sub.0"] == 6  # both instructions of the program, without the gap
    row = found["name"].index("mul.1")
    assert found["op_type"][row] == "mul" and found["members"][row] is None
    assert found["inputs"][row] == "float32[4,8]; float32[8]"


def test_programs_that_overlap_are_joined_by_their_numbers() -> None:
    """The third multiplication started before the first one."""
    calls = run_of(0, 0)
    calls[3]["start_ns"], calls[5]["start_ns"] = 45, 18
    found, apart = joined(columns(*calls), EAGER)
    assert apart == 0
    assert dict(zip(found["start_ns"], found["name"], strict=True))[45] == "mul.0"


def test_a_run_with_other_calls_is_counted() -> None:
    short = [one for one in run_of(1, 100) if one["start_ns"] != 140]
    found, apart = joined(columns(*run_of(0, 0), *short), EAGER)
    assert apart == 1
    names = dict(named(found))
    assert (names[20], names[40]) == ("mul.0", "mul.2")
    assert (names[120], names[130]) == ("multiply", "mul.1")


def test_programs_that_the_graph_does_not_have_keep_their_names() -> None:
    extra = call("copy", 60, 3, 0, (99, 1), "jit_convert_element_type")
    outside = call("multiply", 900, 3, None, (7, 99), "jit_mul")
    found, apart = joined(columns(*run_of(0, 0), extra, outside), EAGER)
    assert apart == 1
    assert {"copy", "multiply"} <= set(found["name"])
