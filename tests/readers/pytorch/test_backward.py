"""The backward pass of PyTorch: each backward operator belongs to the module of its forward one."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.explanation.model_tree import tree_of_trace
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.model_tree import model_tree
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.model_tree.model_tree_json import tree_of_trace_values
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.trees.model_tree import costliest_said

FORWARD, BACKWARD, OTHER = 101, 202, 303  # threads as the system numbers them


@dataclass
class Written:
    """Events of a file, whose spans nest as they are entered."""

    events: list[dict[str, Any]] = field(default_factory=list)
    now: int = 0
    kernels: int = 0

    def span(self, thread: int, kind: str, name: str, *inside: Any, **args: int) -> None:
        """Write a span of the host around what the calls `inside` write."""
        event: dict[str, Any] = {
            "ph": "X", "cat": kind, "pid": 1, "tid": thread, "name": name, "ts": self.tick(),
            "args": args,
        }  # fmt: skip
        self.events.append(event)
        for write in inside:
            write()
        event["dur"] = self.tick() - event["ts"]

    def launch(self, thread: int, us: int) -> None:
        """Write a launch and its kernel of `us`."""
        self.kernels += 1
        args = {"correlation": self.kernels}
        self.span(thread, "cuda_runtime", "cudaLaunchKernel", **args)
        on_device = {"device": 0, "stream": 7, **args}
        self.events.append(
            {
                "ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "name": f"k{self.kernels}",
                "ts": 10**6 + 1000 * self.kernels, "dur": us, "args": on_device,
            }
        )  # fmt: skip

    def tick(self) -> int:
        self.now += 10
        return self.now

    def trace(self) -> Trace:
        found = read(Source("t.json", json.dumps({"traceEvents": self.events}).encode()))
        assert isinstance(found, Trace)
        return found

    def module(self, thread: int, name: str, *inside: Any) -> None:
        self.span(thread, "python_function", f"nn.Module: {name}", *inside)

    def operator(self, thread: int, name: str, number: int, of: int, *inside: Any) -> None:
        """Write an operator with a number of autograd, of the thread `of`, 0 of a forward one."""
        args = {"Sequence number": number, "Fwd thread id": of}
        self.span(thread, "cpu_op", name, *inside, **args)


def modules_of_kernels(trace: Trace) -> dict[str, str]:
    """Return by kernel the module of the forward operator that it belongs to, '' for none."""
    assert trace.stacks is not None
    rows = trace.calls["source_row"].to_numpy("int64")
    names = trace.texts("name")
    found = {}
    nodes = trace.stacks.forward_of(rows).tolist()
    for operator, node in zip(trace.calls["operator"].tolist(), nodes, strict=True):
        module = ""
        while node >= 0:
            name = trace.stacks.names[node]
            if name.startswith("nn.Module: "):
                module = name.removeprefix("nn.Module: ")
                break
            node = int(trace.stacks.parents[node])
        found[names[operator]] = module
    return found


def trained(*, twin: bool = False) -> Written:
    """A net of two modules, its backward pass on another thread, and an optimizer. In `Norm_0` an
    operator that makes no node carries the number of the next node, which `Conv_0` makes. Within
    `twin` a second thread has operators of the same numbers."""
    out = Written()
    for thread in (FORWARD, OTHER) if twin else (FORWARD,):
        out.module(
            thread,
            "Net_0",
            lambda thread=thread: out.module(
                thread,
                "Norm_0",
                lambda: out.operator(thread, "aten::norm", 5, 0, lambda: out.launch(thread, 1)),
                lambda: out.operator(thread, "aten::add_", 6, 0, lambda: out.launch(thread, 2)),
            ),
            lambda thread=thread: out.module(
                thread,
                "Conv_0",
                lambda: out.operator(thread, "aten::conv2d", 6, 0, lambda: out.launch(thread, 4)),
            ),
        )
    out.operator(
        BACKWARD, "autograd::engine::evaluate_function: ConvBackward0", 6, 1,
        lambda: out.operator(
            BACKWARD, "ConvBackward0", 6, 1,
            lambda: out.span(BACKWARD, "cpu_op", "aten::conv_backward",
                             lambda: out.launch(BACKWARD, 30)),
            lambda: out.module(BACKWARD, "Again_0", lambda: out.launch(BACKWARD, 8)),
            lambda: out.operator(BACKWARD, "aten::again", 90, 0, lambda: out.launch(BACKWARD, 16)),
        ),
    )  # fmt: skip
    out.operator(BACKWARD, "NormBackward0", 5, 1, lambda: out.launch(BACKWARD, 100))
    out.operator(BACKWARD, "LostBackward0", 7, 1, lambda: out.launch(BACKWARD, 20))
    out.span(FORWARD, "cpu_op", "aten::_foreach_add_", lambda: out.launch(FORWARD, 40))
    return out


def test_a_backward_operator_belongs_to_the_module_of_its_forward_one() -> None:
    """Kernels 1 to 3 are of the forward pass, 4 to 8 of the backward pass, 9 is the optimizer's; 5
    runs in a module of its own, 6 in a forward operator that runs again, and the forward operator
    of 7 before the file."""
    assert modules_of_kernels(trained().trace()) == {
        "k1": "", "k2": "", "k3": "", "k4": "Conv_0", "k5": "", "k6": "", "k7": "Norm_0",
        "k8": "", "k9": "",
    }  # fmt: skip


def test_the_tree_has_the_backward_pass_as_a_part_of_each_module() -> None:
    """Conv: 4 us forward, 30 backward. Norm: 1 + 2 forward, 100 backward. In no module are 16 us of
    what runs again, 20 us without a forward operator, and the optimizer's 40."""
    found = tree_of_trace(trained().trace())
    assert found is not None and found.costliest is not None
    values = tree_of_trace_values(found)
    assert values is not None
    parts = values["parts"]
    of = {
        (part["module"], part["is_backward"]): round(part["ns"])
        for part in parts
        if part["kind"] in ("module", "backward") or part["is_leaf"] and part["module"]
    }
    assert (of["Net/Conv", True], of["Net/Norm", True]) == (30_000, 100_000)
    whole = {part["module"]: round(part["ns"]) for part in reversed(parts) if part["depth"] < 2}
    assert (whole["Net"], whole[""]) == (137_000, 76_000)
    said = " ".join(map(str, costliest_said(found.costliest, "file", ""))).replace("**", "")
    assert "Net › Norm takes most, without modules inside it: 103 µs" in said
    assert "Of this 100 µs is its backward pass." in said
    assert "of the time of all operators is in no module that the file names." in said


def test_two_threads_with_the_same_numbers_tell_no_module() -> None:
    assert set(modules_of_kernels(trained(twin=True).trace()).values()) == {""}


def test_without_modules_nothing_is_linked() -> None:
    out = trained()
    out.events = [event for event in out.events if event["cat"] != "python_function"]
    trace = out.trace()
    assert trace.stacks is not None and trace.stacks.forward is None


def test_beside_a_file_without_numbers_both_sides_have_no_backward_pass_in_modules() -> None:
    """Else all of the backward pass would seem to have moved. Both have the same kernels."""
    plain = trained()
    for event in plain.events:
        event["args"].pop("Sequence number", None)
    before, after = (side_of_trace(out.trace()) for out in (trained(), plain))
    tree = model_tree(compare(before, after))
    assert tree is not None and not tree.levels.backward
    assert not any(node.kind == "backward" for _, _, node in tree.walk())
    assert all(tree.change_ns(node) == 0 for _, _, node in tree.walk())
    same = model_tree(compare(before, before))
    assert same is not None and same.levels.backward


Ranges = list[tuple[str, list[Any]]]
RANGES: st.SearchStrategy[Ranges] = st.recursive(
    st.just([]),
    lambda inside: st.lists(
        st.tuples(st.sampled_from(["frame", "module", "again", "first", "second", "lost"]), inside),
        max_size=3,
    ),
    max_leaves=12,
)


@given(RANGES)
def test_the_innermost_of_nested_ranges_says_where_a_kernel_belongs(ranges: Ranges) -> None:
    """Each range launches a kernel before and behind those inside it. It belongs to the forward
    operator of the innermost range that is a module, a forward operator or a backward one, where
    that is a backward one whose forward operator the file has."""
    out, numbers = Written(), {"first": 1, "second": 2, "lost": 3}
    out.module(FORWARD, "first_0", lambda: out.operator(FORWARD, "aten::x", 1, 0))
    out.module(FORWARD, "second_0", lambda: out.operator(FORWARD, "aten::x", 2, 0))
    out.module(FORWARD, "Last_0", lambda: out.launch(FORWARD, 1))
    expected = {"k1": ""}

    def launch(belongs_to: str) -> None:
        out.launch(BACKWARD, 1)
        expected[f"k{out.kernels}"] = belongs_to

    def write(kind: str, inside: Ranges, belongs_to: str) -> None:
        if kind != "frame":
            belongs_to = f"{kind}_0" if kind in ("first", "second") else ""

        def within() -> None:
            launch(belongs_to)
            for each, below in inside:
                write(each, below, belongs_to)
            launch(belongs_to)

        if kind == "frame":
            out.span(BACKWARD, "python_function", "f.py(1): f", within)
        elif kind == "module":
            out.module(BACKWARD, "Inner_0", within)
        else:
            out.operator(BACKWARD, kind, numbers.get(kind, 50), int(kind != "again"), within)

    for kind, inside in ranges:
        write(kind, inside, "")
    assert modules_of_kernels(out.trace()) == expected
