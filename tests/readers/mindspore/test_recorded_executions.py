"""Profiles of our own recordings with MindSpore: executions, runs, and operators of the graph."""

from __future__ import annotations

from itertools import count

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers.mindspore.recorded import RecordedExecutions
from fusescope.analysis.trace import Meta, Trace

START = 1_795_672_324_000_000_000
SPANS = [(START, 1_000_000), (START + 2_000_000, 800_000)]
TENSORS = tuple(Tensor(name, "float32", (2, 4)) for name in ("x", "a", "b"))
COMPILED = Graph(
    nodes=(
        Node("Default/net/Mul-op0", "Mul", ("x",), ("a",)),
        Node("Default/net/Mul-op1", "Mul", ("a",), ("b",)),
    ),
    tensors=TENSORS,
    inputs=("x",),
    outputs=("b",),
)
EAGER = Graph(
    nodes=(
        Node("Mul.0", "Mul", ("x",), ("a",), attributes={"event": "Mul"}),
        Node("to.0", "to", ("a",), ("c",), attributes={"event": "to", "view": 1}),
        Node("Mul.1", "Mul", ("c",), ("b",), attributes={"event": "Mul"}),
    ),
    tensors=TENSORS,
    inputs=("x",),
    outputs=("b",),
)


def trace(graph: Graph | None, *lines: str, warmup_runs: int = 0) -> Trace:
    runs = RecordedExecutions(graph)
    data = "\n".join(lines).encode()
    runs.add(data, "0.txt", block=3, warmup_runs=warmup_runs, spans=SPANS)
    return runs.trace(Meta("experiment", "mindspore", "2.10.0", "CPU", "a.zip", ""))


def line(name: str, *executions: tuple[int, float]) -> str:
    """Starts in µs after the first run, durations in ms."""
    times = " ".join(f"{START + 1000 * start},{dur},0" for start, dur in executions)
    return f"{name};HostCpuOps;{times} "


def codes(made: Trace) -> dict[str, int]:
    return {note.code: note.count for note in made.diagnostics}


def test_numbers_of_a_later_compilation_are_those_of_the_graph_in_order() -> None:
    made = trace(
        COMPILED,
        line("Default/net/Mul-op4", (10, 0.25), (2010, 0.5)),
        line("Default/net/Mul-op7", (400, 0.125), (2600, 0.0625)),
        warmup_runs=1,
    )
    calls = made.calls.assign(name=made.operators["name"].take(made.calls["operator"]).to_numpy())
    assert calls[["run", "name", "dur_ns"]].to_numpy().tolist() == [
        [0, "Default/net/Mul-op0", 250_000],
        [0, "Default/net/Mul-op1", 125_000],
        [1, "Default/net/Mul-op0", 500_000],
        [1, "Default/net/Mul-op1", 62_500],
    ]
    assert made.runs["dur_ns"].tolist() == [1_000_000, 800_000]
    assert made.runs["warmup"].tolist() == [True, False]
    assert made.runs["block"].tolist() == [3, 3]
    assert set(made.operators["inputs"]) == {"float32[2,4]"}
    assert set(made.operators["bytes_out"]) == {32}
    assert not codes(made).keys() & {"calls_not_of_graph", "outside_runs"}


RESHAPED = Graph(
    nodes=(
        Node("net/Reshape-op0", "Reshape", ("x",), ("a",)),
        Node("net/BatchNorm-op0", "BatchNorm", ("a",), ("b",)),
        Node("net/Reshape-op1", "Reshape", ("b",), ("c",)),
        Node("net/Reshape-op2", "Reshape", ("c",), ("d",)),
        Node("net/Mul-op0", "Mul", ("d",), ("e",)),
        Node("net/Reshape-op3", "Reshape", ("e",), ("f",)),
    ),
    tensors=tuple(Tensor(name, "float32", (2, 4)) for name in "xabcdef"),
    inputs=("x",),
    outputs=("f",),
)


@pytest.mark.parametrize(
    ("ran", "is_known"),
    [
        ("Reshape BatchNorm Mul", {0: "Reshape-op0"}),
        ("BatchNorm Mul Reshape", {2: "Reshape-op3"}),
        ("Reshape BatchNorm Mul Reshape", {0: "Reshape-op0", 3: "Reshape-op3"}),
        ("BatchNorm Reshape Reshape Mul", {1: "Reshape-op1", 2: "Reshape-op2"}),
        ("BatchNorm Reshape Mul", {}),  # one of two
        ("Reshape BatchNorm Reshape Mul", {}),
        ("Reshape Reshape BatchNorm Mul", {}),  # two of one
    ],
)
def test_which_of_the_same_name_ran_is_told_by_what_ran_around_it(
    ran: str, is_known: dict[int, str]
) -> None:
    """MindSpore leaves out a Reshape that need not copy."""
    numbers = count(7)
    lines = [
        line(f"net/{name}-op{next(numbers) if name == 'Reshape' else 3}", (10 + 20 * place, 0.01))
        for place, name in enumerate(ran.split())
    ]
    made = trace(RESHAPED, *lines)
    names = made.operators["name"].take(made.calls["operator"]).tolist()
    known = {node.name for node in RESHAPED.nodes}
    reshapes = [at for at, name in enumerate(ran.split()) if name == "Reshape"]
    joined = {at: names[at].removeprefix("net/") for at in reshapes if names[at] in known}
    assert joined == is_known
    assert ("calls_not_of_graph" in codes(made)) == (len(is_known) < len(reshapes))


def test_of_an_eager_run_the_order_says_which_operator_it_is() -> None:
    """Numbers are those of kernels that MindSpore keeps, which serve several operators."""
    made = trace(
        EAGER,
        line("Mul", (10, 0.25), (2010, 0.5)),
        line("Default/Mul-op7", (400, 0.125), (2600, 0.25)),
    )
    names = made.operators["name"].take(made.calls["operator"]).tolist()
    assert names == ["Mul.0", "Mul.1", "Mul.0", "Mul.1"]


def test_a_run_that_is_not_that_of_the_graph_is_counted() -> None:
    made = trace(EAGER, line("Mul", (10, 0.25), (2010, 0.5), (2600, 0.25)))
    assert codes(made)["calls_not_of_graph"] == 1
    assert made.operators["name"].tolist() == ["Mul", "Mul.0", "Mul.1"]
    made = trace(COMPILED, line("Default/net/Mul-op4", (10, 0.25)))
    assert codes(made)["calls_not_of_graph"] == 1


def test_what_ran_between_runs_is_in_none() -> None:
    made = trace(COMPILED, line("Default/net/Mul-op0", (10, 0.25)),
                 line("Default/net/Mul-op1", (300, 0.25), (1500, 0.5)))  # fmt: skip
    assert codes(made)["outside_runs"] == 1
    assert len(made.calls) == 2


def test_without_a_graph_names_stay_and_a_file_without_kernels_is_refused() -> None:
    made = trace(None, line("Default/net/Mul-op4", (10, 0.25)))
    assert made.operators["name"].tolist() == ["Default/net/Mul-op4"]
    assert made.operators["op_type"].tolist() == ["Mul"]
    with pytest.raises(FuseScopeError):
        trace(COMPILED, "")


def test_without_a_graph_the_same_kernels_of_two_processes_are_the_same_operators() -> None:
    runs = RecordedExecutions(None)
    for block, numbers in enumerate(((4, 7), (9, 12))):
        later = 10_000 * block
        lines = [
            line(f"Default/net/Mul-op{number}", (later + 10 + 300 * place, 0.25))
            for place, number in enumerate(numbers)
        ]
        data = "\n".join([*lines, line("Mul", (later + 700, 0.1))]).encode()
        spans = [(START + 1000 * later, 1_000_000)]
        runs.add(data, f"{block}.txt", block=block, warmup_runs=0, spans=spans)
    made = runs.trace(Meta("experiment", "mindspore", "2.10.0", "CPU", "a.zip", ""))
    assert made.texts("name") == ["Default/net/Mul-op4", "Default/net/Mul-op7", "Mul"]
    assert len(made.calls) == 6


def test_more_executions_than_the_limit_are_refused() -> None:
    limits = DEFAULT_LIMITS.__class__(events=1)
    runs = RecordedExecutions(COMPILED, limits)
    with pytest.raises(FuseScopeError) as told:
        runs.add(line("Mul-op0", (1, 0.1), (2, 0.1)).encode(), "0.txt", block=0, warmup_runs=0,
                 spans=SPANS)  # fmt: skip
    assert told.value.code == "more_events_than_limit"
