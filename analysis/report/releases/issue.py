"""A change between two releases as a text for the engine's tracker, in English and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.ledger.operator_texts import sequence_text
from fusescope.analysis.messages import language
from fusescope.analysis.releases.changes import Change
from fusescope.analysis.releases.history import History
from fusescope.analysis.report.exports.markdown import plain
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.releases import change_lines, skipped_text, what_changed
from fusescope.analysis.wording.releases.costs import cost_lines, cost_sentence

_SCRIPT = """```python
# pip install onnxruntime=={older}, then onnxruntime=={newer}
import collections, onnx, onnxruntime
options = onnxruntime.SessionOptions()
options.optimized_model_filepath = "optimized.onnx"
onnxruntime.InferenceSession({file}, options, providers=["CPUExecutionProvider"])
nodes = onnx.load("optimized.onnx").graph.node
print(onnxruntime.__version__, collections.Counter(node.op_type for node in nodes))
```"""


@dataclass(frozen=True)
class Example:
    """A model in the file `name` that shows the change: `nodes` operators out of `of`; `checked`
    what both releases make of it."""

    name: str
    nodes: int
    of: int
    checked: Change


def issue_text(
    history: History,
    change: Change,
    example: Example | None = None,
    measured: Comparison | None = None,
) -> str:
    """The whole text. Names of modules are the model's, so whoever posts it reads it first."""
    with language.speaking(language.ENGLISH):
        return "\n".join(_lines(history, change, example, measured)) + "\n"


def _lines(
    history: History, change: Change, example: Example | None, measured: Comparison | None
) -> Sequence[str]:
    older, newer, newest = change.older, change.newer, history.compared[-1].version
    lost = _types(change.lost) or "operators"
    verb = "no longer fused" if change.lost else "run differently"
    still = f"still so in {newest}" if change.lasts and newest != newer else ""
    undone = "" if change.lasts else f"undone in {newest}"
    said = f" ({still or undone})" if still or undone else ""
    lines = [
        f"# {plain(lost)} {verb} since {newer}{said}",
        "",
        "### Describe the issue",
        (
            f"ONNX Runtime {older} and {newer} make different operators of one model with every "
            f"graph optimization on: {change.nodes[0]} operators became {change.nodes[1]}."
        ),
        "",
        *(f"- {plain(line)}" for line in change_lines(change)),
        f"- Operators by type: {plain(what_changed(change))}.",
        "",
    ]
    if measured is not None:
        lines += [
            "What that costs, measured:",
            "",
            plain(cost_sentence(measured)),
            "",
            *(f"- {plain(line)}" for line in cost_lines(change, measured)),
            "",
        ]
    lines += ["### To reproduce"]
    if example is None:
        lines += ["The model that shows it is not attached.", ""]
    else:
        checked = example.checked
        size = "1 operator" if example.nodes == 1 else f"{example.nodes} operators"
        lines += [
            (
                f"`{example.name}` has {size} of the model ({example.of} in all), with random "
                f"weights. Both releases were run on it: {_checked(checked)}."
            ),
            "",
            _SCRIPT.format(older=older, newer=newer, file=ascii(example.name)),
            "",
        ]
    machine = ", ".join(
        f"{clean_text(one.name, 60)} {clean_text(one.dtype, 20)}{list(one.shape)}"
        for one in history.model.inputs
    )
    return [
        *lines,
        "### Versions",
        "",
        "| Release | Operators | |",
        "|---|---:|---|",
        *(
            f"| {plain(one.version)} | {_nodes(history.nodes(one))} | {plain(skipped_text(one))} |"
            for one in history.releases
        ),
        "",
        (
            f"Opset {history.model.opset}; inputs: {plain(machine)}; CPUExecutionProvider; all "
            "graph optimizations."
        ),
        "",
        (
            "Groups of operators were verified by the values of the tensors at their boundaries "
            "(FuseScope)."
        ),
    ]


def _checked(change: Change) -> str:
    first = change.groups[0].group
    before, after = sequence_text(first.baseline), sequence_text(first.candidate)
    return (
        f"{change.nodes[0]} operators with {plain(change.older)}, {change.nodes[1]} with "
        f"{plain(change.newer)} ({plain(before)} became {plain(after)})"
    )


def _types(counted: dict[str, int]) -> str:
    return ", ".join(clean_text(name, 60) for name in counted)


def _nodes(count: int | None) -> str:
    return units.MISSING if count is None else str(count)
