"""OpenVINO: execution graphs and reports of performance counters, as Traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.messages.places import in_table
from fusescope.analysis.operators import flops, members
from fusescope.analysis.operators.classes import op_class
from fusescope.analysis.readers.building.trace_tables import build_trace, tensor_bytes
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.openvino.counters import Counted, holds_counters, read_counters
from fusescope.analysis.readers.openvino.graph import (
    ExecutionGraph,
    Node,
    Tensors,
    holds_graph,
    read_graph,
    tensors,
)
from fusescope.analysis.readers.reader import ALWAYS, Reader, anything
from fusescope.analysis.trace import Diagnostic, Trace, noted

TOOL = "OpenVINO"
_HEAVY_TYPES = {
    "convolution": "Conv", "groupconvolution": "Conv", "matmul": "MatMul",
    "fullyconnected": "MatMul", "gemm": "MatMul",
}  # fmt: skip
_WITH_GRAPH = mark(
    "Record with benchmark_app -exec_graph_path exec.xml, and open both files together."
)

# Layer types of OpenVINO's plugins that mean something else, or nothing, elsewhere.
_CLASSES = {
    "convolution": "convolution", "deconvolution": "convolution", "groupconvolution": "convolution",
    "convolutionbackpropdata": "convolution", "binaryconvolution": "convolution",
    "deformableconvolution": "convolution",
    "fullyconnected": "matrix_product", "gathermatmul": "grouped_product", "gemm": "matrix_product",
    "fullyconnectedcompressed": "matrix_product", "llmmlp": "matrix_product",
    "qkvprojection": "matrix_product",
    "scaleddotproductattention": "attention", "scaledattn": "attention", "mha": "attention",
    "pagedattention": "attention", "scaleddotproductattentionwithkvcache": "attention",
    "sdpa": "attention",
    "rnncell": "recurrent", "rnnseq": "recurrent", "lstmsequence": "recurrent",
    "grusequence": "recurrent", "lstmcell": "recurrent", "grucell": "recurrent",
    "pooling": "pooling", "adaptivepooling": "pooling", "maxpool": "pooling", "avgpool": "pooling",
    "roipooling": "pooling", "roialign": "pooling", "psroipooling": "pooling",
    "eltwise": "elementwise", "math": "elementwise", "subgraph": "elementwise",
    "power": "elementwise", "select": "elementwise", "rope": "rotary",
    "logical": "elementwise", "fakequantize": "quantisation", "activation": "activation",
    "relu": "activation", "softmax": "softmax", "logsoftmax": "softmax",
    "sigmoid": "activation", "clamp": "activation", "swish": "activation", "hswish": "activation",
    "mvn": "normalisation", "normalizel2": "normalisation", "norm": "normalisation",
    "rms": "normalisation", "rmsnorm": "normalisation", "groupnormalization": "normalisation",
    "batchnorminference": "normalisation",
    "reduce": "reduction", "reducemean": "reduction", "reducesum": "reduction", "topk": "reduction",
    "cumsum": "reduction",
    "reorder": "layout", "reshape": "layout", "transpose": "layout", "permute": "layout",
    "convert": "cast", "squeeze": "layout", "unsqueeze": "layout", "quantize": "quantisation",
    "concatenation": "data_movement", "concat": "data_movement", "split": "data_movement",
    "variadicsplit": "data_movement", "stridedslice": "data_movement", "crop": "data_movement",
    "interpolate": "data_movement", "resample": "data_movement", "broadcast": "data_movement",
    "memoryinput": "data_movement", "memoryoutput": "data_movement", "input": "data_movement",
    "const": "data_movement", "constant": "data_movement", "output": "data_movement",
    "parameter": "data_movement", "result": "data_movement", "shapeof": "data_movement",
    "gather": "data_movement", "pad": "data_movement", "tile": "data_movement",
    "gatherelements": "data_movement", "scatterupdate": "data_movement",
}  # fmt: skip


def _read_graph(source: Source) -> Trace:
    """The trace of what was executed, in the order of execution."""
    graph, notes = read_graph(source)
    ran = [index for index, node in enumerate(graph.nodes) if node.dur_ns is not None]
    if graph.nodes and not ran and any(note.code == "cut_short" for note in notes):
        raise FuseScopeError("cut_before_times", where=source.name)
    if graph.nodes and not ran:
        raise FuseScopeError("openvino_graph_untimed", where=source.name)
    orders = [graph.nodes[index].order for index in ran]
    if all(order is not None for order in orders):
        ran.sort(key=lambda index: graph.nodes[index].order or 0)
    notes += noted(
        "info", "not_operators", [n.op_type for n in graph.nodes if n.dur_ns is None], chars=80
    )
    known = _describe(graph)
    executed = [_Executed(known[at], 0, at, graph.nodes[at].dur_ns) for at in ran]
    return _trace(OPENVINO_GRAPH.name, source, executed, notes)


OPENVINO_GRAPH = Reader(
    name="openvino_graph",
    title=mark("OpenVINO execution graph, XML or JSON"),
    fields={
        **dict.fromkeys(("runs", "types", "members"), ALWAYS),
        **dict.fromkeys(("shapes", "dtypes", "flops", "sizes"), mark("Save the graph as XML.")),
    },
    recording=(
        "`benchmark_app -m model.xml -pc -exec_graph_path exec.xml`, or compile with "
        "`PERF_COUNT=YES`, run, and `openvino.save_model(compiled.get_runtime_model(), "
        '"exec.xml")`. Add `-report_type detailed_counters` for times of each request.'
    ),
    sniff=holds_graph,
    read=_read_graph,
)


def _read_counters(source: Source) -> Trace:
    """The trace; layers get members and shapes from the execution graph beside it."""
    found, notes = read_counters(source)
    found = _without_repeats(found, notes)
    ran = [one for one in found if one.ran]
    notes += noted("info", "not_operators", [one.op_type for one in found if not one.ran], chars=80)
    known, used = _graph_beside(source, ran, notes)
    executed = []
    for one in ran:
        layer = known.get(one.name) or _Layer(one.name, one.op_type, one.implementation)
        executed.append(_Executed(layer, one.table, one.row, one.dur_ns))
    return _trace(OPENVINO_COUNTERS.name, source, executed, notes, used)


OPENVINO_COUNTERS = Reader(
    name="openvino_counters",
    title=mark("OpenVINO performance counters, benchmark_app -report_type detailed_counters"),
    fields={
        **dict.fromkeys(("runs", "types"), ALWAYS),
        **dict.fromkeys(("members", "shapes", "dtypes", "flops", "sizes"), _WITH_GRAPH),
    },
    recording=(
        "`benchmark_app -m model.xml -pc -report_type detailed_counters -report_folder report "
        "-exec_graph_path report/exec.xml`; give both files together."
    ),
    sniff=holds_counters,
    read=_read_counters,
    takes=anything,
)


_MIN_TIMES = 4  # different ones of a table that stands twice: fewer may be chance
_UNKNOWN = Tensors("", "", "", "")


@dataclass(frozen=True)
class _Layer:
    """A layer in the columns of a trace; None where nothing is known."""

    name: str
    op_type: str
    implementation: str
    members: str | None = None
    tensors: Tensors = _UNKNOWN


@dataclass(frozen=True)
class _Executed:
    """A layer in one run, and its row or node in the file."""

    layer: _Layer
    run: int
    row: int
    dur_ns: int | None


def _trace(
    name: str,
    source: Source,
    executed: Sequence[_Executed],
    notes: list[Diagnostic],
    files: Sequence[str] = (),
) -> Trace:
    """The Trace of mean times of layers; `files` are those that were read with it."""
    if executed:
        notes.append(Diagnostic("info", "averaged_all"))
    rows = _columns([one.layer for one in executed])
    rows["dur_ns"] = [one.dur_ns for one in executed]
    rows["run"] = [one.run for one in executed]
    rows["source_row"] = [one.row for one in executed]
    meta = source.meta(name, TOOL, files=files)
    return build_trace(meta, rows, run_kind="iteration", notes=notes, limits=source.limits)


def _describe(graph: ExecutionGraph) -> list[_Layer]:
    return [_layer(node, own) for node, own in zip(graph.nodes, tensors(graph), strict=True)]


def _layer(node: Node, own: Tensors) -> _Layer:
    listed = node.attributes.get("originalLayersNames")
    return _Layer(
        node.name,
        node.op_type,
        node.attributes.get("primitiveType", ""),
        None if listed is None else members.members_text(members.openvino(listed)),
        own,
    )


def _columns(layers: Sequence[_Layer]) -> dict[str, list[object]]:
    counted: list[object] = [_flops(layer) for layer in layers]
    return {
        "name": [layer.name or layer.op_type or "unnamed" for layer in layers],
        "op_type": [layer.op_type or None for layer in layers],
        "op_class": [layer_class(layer.op_type) for layer in layers],
        "provider": [layer.implementation or None for layer in layers],
        "level": ["graph_layer"] * len(layers),
        "inputs": [layer.tensors.inputs or None for layer in layers],
        "outputs": [layer.tensors.outputs or None for layer in layers],
        "bytes_in": [tensor_bytes(layer.tensors.activations) for layer in layers],
        "bytes_param": [tensor_bytes(layer.tensors.parameters) for layer in layers],
        "flops": counted,
        "flops_source": [None if count is None else flops.FROM_SHAPES for count in counted],
        "members": [layer.members for layer in layers],
        "members_source": [None if layer.members is None else "names" for layer in layers],
    }


def layer_class(op_type: str) -> str:
    """The class of a layer type of OpenVINO's plugins."""
    return _CLASSES.get(op_type.lower().replace("_", "")) or op_class(op_type)


def _flops(layer: _Layer) -> int | None:
    return layer_flops(layer.op_type, layer.tensors.inputs, layer.tensors.outputs)


def layer_flops(op_type: str, inputs: str, outputs: str) -> int | None:
    """FLOPs of a convolution or matrix product from its tensors, padded taps counted."""
    kind = _HEAVY_TYPES.get(op_type.lower())
    ins, outs = flops.parse_shapes(inputs), flops.parse_shapes(outputs)
    if kind is None or len(ins) < 2 or not outs:
        return None
    if kind == "Conv" and len(ins[1]) == len(ins[0]) + 1:  # weights by group
        ins[1] = (ins[1][0] * ins[1][1], *ins[1][2:])
    return flops.from_shapes(kind, ins, outs)


def _without_repeats(found: list[Counted], notes: list[Diagnostic]) -> list[Counted]:
    """The layers without tables that say what an earlier one says: files that were joined."""
    tables: dict[int, list[Counted]] = {}
    for one in found:
        tables.setdefault(one.table, []).append(one)
    first: dict[tuple[tuple[object, ...], ...], int] = {}
    again: list[int] = []
    for table, layers in tables.items():
        if len({one.dur_ns for one in layers if one.ran}) < _MIN_TIMES:
            continue
        told = tuple((one.name, one.status, one.op_type, one.dur_ns) for one in layers)
        if first.setdefault(told, table) != table:
            again.append(table)
    notes += noted("warning", "runs_twice", [in_table(table + 1) for table in again])
    return [one for one in found if one.table not in again]


def _graph_beside(
    source: Source, ran: Sequence[Counted], notes: list[Diagnostic]
) -> tuple[dict[str, _Layer], list[str]]:
    """Layers by name from the one graph beside the report that has all of them, and its path."""
    wanted = {one.name for one in ran}
    fits: list[tuple[dict[str, _Layer], str]] = []
    for other, (graph, _) in Beside(source, notes).each(holds_graph, read_graph):
        layers = {layer.name: layer for layer in _describe(graph)}
        if wanted and wanted <= layers.keys():
            fits.append((layers, other.path))
    if len(fits) != 1:
        return {}, []
    return fits[0][0], [fits[0][1]]
