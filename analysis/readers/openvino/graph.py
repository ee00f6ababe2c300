"""OpenVINO's execution graph: what `get_runtime_model()` holds, as XML, as JSON, or as both lists.

Every node names the layers of the model that it stands for (`originalLayersNames`, '' for nodes
that the engine put in), its implementation and its mean time in µs (`execTimeMcs`). XML is read
without document type and entities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages.errors.places import AT_LINE
from fusescope.analysis.readers.building.trace_tables import dtype_name, shape_text
from fusescope.analysis.readers.input.encoding import utf8, valid_utf8
from fusescope.analysis.readers.input.json_array import check_length
from fusescope.analysis.readers.input.json_value import decode, decoded_whole, refused
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic

_ROOT = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<net[\s>]", re.DOTALL)
_TIMED = b"execTimeMcs"
_CUT = (expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
        expat.errors.codes[expat.errors.XML_ERROR_PARTIAL_CHAR],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION])  # fmt: skip
_MAX_DIMS = 16
_MAX_PORTS = 4096
_PLAIN = re.compile(r"a?b?c?d?e?f?g?|bfyx|bfzyx|undef|any|scalar", re.IGNORECASE)


@dataclass
class Port:
    """One tensor of a node: its precision as the file spells it, and its dimensions."""

    id: str = ""
    precision: str = ""
    dims: list[str] = field(default_factory=list)


@dataclass
class Node:
    """One node of an execution graph: attributes by OpenVINO's names, and its tensors."""

    name: str
    kind: str
    id: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)

    @property
    def op_type(self) -> str:
        """The engine's layer type; the type of the operator where there is none."""
        return self.attributes.get("layerType") or self.kind

    @property
    def dur_ns(self) -> int | None:
        """Time of one execution; None for 'not_executed' and where there is none."""
        return exact_ns(self.attributes.get("execTimeMcs", ""), "us")

    @property
    def order(self) -> int | None:
        """Place in the order of execution."""
        text = self.attributes.get("execOrder", "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@dataclass
class ExecutionGraph:
    """Nodes in file order; `edges` give for (node id, input port id) the producer's of either."""

    name: str = ""
    nodes: list[Node] = field(default_factory=list)
    edges: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)


def holds_graph(head: bytes) -> bool:
    """True for the head of an execution graph, XML or JSON."""
    text = utf8(head)
    if _TIMED not in text:
        return text.lstrip().startswith(b"{") and _starts_with_counts(text)
    return _ROOT.match(text) is not None or text.lstrip()[:1] in (b"{", b"[")


def read_graph(source: Source) -> tuple[ExecutionGraph, list[Diagnostic]]:
    """The graph, and what was repaired. Raises FuseScopeError for a damaged file."""
    data = utf8(source.content)
    if data.lstrip().startswith(b"<"):
        return _from_xml(data, source)
    notes: list[Diagnostic] = []
    return _from_json(data, source, notes), notes


@dataclass(frozen=True)
class Tensors:
    """Canonical text of what a node reads and writes; `parameters` are inputs that are constant."""

    inputs: str
    outputs: str
    activations: str
    parameters: str


def tensors(graph: ExecutionGraph) -> list[Tensors]:
    """The tensors of each node; an input has the data type and layout of what it comes from."""
    constant = {node.id for node in graph.nodes if node.op_type.lower() in ("const", "constant")}
    outputs: dict[tuple[str, str], tuple[str, str]] = {}  # (node, port) -> data type, layout
    for node in graph.nodes:
        layouts = _listed(node.attributes.get("outputLayouts", ""), len(node.outputs))
        dtypes = _listed(node.attributes.get("outputPrecisions", ""), len(node.outputs))
        for index, port in enumerate(node.outputs):
            outputs[node.id, port.id] = (dtypes[index] or port.precision, layouts[index])
    found = []
    for node in graph.nodes:
        ins, fixed = [], []
        for port in node.inputs:
            start = graph.edges.get((node.id, port.id), ("", ""))
            dtype, layout = outputs.get(start, ("", ""))
            ins.append((port, dtype or port.precision, layout))
            fixed.append(start[0] in constant)
        outs = [(port, *outputs[node.id, port.id]) for port in node.outputs]
        found.append(
            Tensors(
                _text(ins),
                _text(outs),
                _text([one for one, is_fixed in zip(ins, fixed, strict=True) if not is_fixed]),
                _text([one for one, is_fixed in zip(ins, fixed, strict=True) if is_fixed]),
            )
        )
    return found


def _text(tensors: list[tuple[Port, str, str]]) -> str:
    return shape_text(
        [dtype_name(precision) for _, precision, _ in tensors],
        [",".join(port.dims) for port, _, _ in tensors],
        ["" if _PLAIN.fullmatch(layout) else layout for _, _, layout in tensors],
    )


def _listed(text: str, count: int) -> list[str]:
    """One word a port; '' for each where the list does not fit."""
    words = [word.strip() for word in text.split(",")]
    if len(words) == 1:
        words *= count
    return words if len(words) == count else [""] * count


class _Builder:
    """Collects nodes and edges from expat's events."""

    def __init__(self, parser: expat.XMLParserType, source: Source) -> None:
        self.graph = ExecutionGraph()
        self.whole = 0  # byte position behind the last whole layer
        self._parser, self._source = parser, source
        self._node: Node | None = None
        self._ports: list[Port] | None = None
        self._text: list[str] | None = None
        self._depth = 0
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise FuseScopeError("xml_with_entities", where=self._source.name)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        node = self._node
        if tag == "net" and self._depth == 1:
            self.graph.name = attributes.get("name", "")
        elif tag == "layer" and node is None:
            self._node = Node(
                attributes.get("name", ""), attributes.get("type", ""), attributes.get("id", "")
            )
        elif tag == "edge":
            end = (attributes.get("to-layer", ""), attributes.get("to-port", ""))
            start = (attributes.get("from-layer", ""), attributes.get("from-port", ""))
            if len(self.graph.edges) < self._source.limits.events:
                self.graph.edges[end] = start
        elif node is not None:
            if tag == "data" and not node.attributes:
                node.attributes = attributes
            elif tag in ("input", "output"):
                self._ports = node.inputs if tag == "input" else node.outputs
            elif tag == "port" and self._ports is not None and len(self._ports) < _MAX_PORTS:
                self._ports.append(Port(attributes.get("id", ""), attributes.get("precision", "")))
            elif tag == "dim":
                self._text = []

    def _data(self, text: str) -> None:
        if self._text is not None and len(self._text) < 8:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "dim" and self._text is not None:
            dim = "".join(self._text).strip()
            ports = self._ports
            if ports and len(ports[-1].dims) < _MAX_DIMS and re.fullmatch(r"-?\d{1,15}", dim):
                ports[-1].dims.append(dim)
            self._text = None
        elif tag in ("input", "output"):
            self._ports = None
        elif tag == "layer" and self._node is not None:
            source = self._source
            source.limits.check_events(
                len(self.graph.nodes) + 1, "more_nodes_than_limit", source.name
            )
            self.graph.nodes.append(self._node)
            self._node, self.whole = None, self._parser.CurrentByteIndex


def _from_xml(data: bytes, source: Source) -> tuple[ExecutionGraph, list[Diagnostic]]:
    notes: list[Diagnostic] = []
    data = valid_utf8(data, notes)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    builder = _Builder(parser, source)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        if error.code not in _CUT or not builder.graph.nodes:
            raise FuseScopeError(
                "xml_damaged",
                where=AT_LINE.of(file=source.name, line=error.lineno),
                reason=expat.errors.messages.get(error.code, "not well-formed"),
            ) from error
        rest = data[builder.whole :]
        if rest.replace(b"</layer>", b"", 1).strip():
            lost = len(rest.replace(b"</layer>", b"", 1))
            notes.append(Diagnostic("warning", "cut_short", 1, "", {"bytes_lost": lost}))
    except (ValueError, RecursionError) as error:
        raise FuseScopeError(
            "xml_damaged", where=source.name, reason=clean_text(str(error), 80)
        ) from error
    return builder.graph, notes


_Cell = str | int | float | bool | None


class _Counted(msgspec.Struct, gc=False):
    """A node of `profiling_info`, under the names that different writers give its fields."""

    node_name: _Cell = None
    name: _Cell = None
    node_type: _Cell = None
    exec_type: _Cell = None
    status: _Cell = None
    real_us: msgspec.Raw = msgspec.Raw(b"")


class _Document(msgspec.Struct, gc=False):
    exec_graph: msgspec.Raw = msgspec.Raw(b"")
    nodes: msgspec.Raw = msgspec.Raw(b"")
    perf_counts: msgspec.Raw = msgspec.Raw(b"")


def _starts_with_counts(text: bytes) -> bool:
    return re.match(rb'\s*\{\s*"perf_counts"\s*:\s*\[\s*\{\s*"node_name"', text) is not None


def _from_json(data: bytes, source: Source, notes: list[Diagnostic]) -> ExecutionGraph:
    with refused(source.name):
        if data.lstrip().startswith(b"["):
            document = _Document(decoded_whole(data, msgspec.Raw, notes))
        else:
            document = decoded_whole(data, _Document, notes)
        nodes = _items(document.exec_graph or document.nodes, source)
        counts = _items(document.perf_counts, source)
    graph = ExecutionGraph()
    graph.nodes += [node for raw in nodes if (node := _json_node(raw)) is not None]
    if not graph.nodes:
        graph.nodes += [node for raw in counts if (node := _counted_node(raw)) is not None]
    return graph


def _items(raw: msgspec.Raw, source: Source) -> list[msgspec.Raw]:
    check_length(raw, source.name, source.limits)
    return msgspec.json.decode(raw or b"[]", type=list[msgspec.Raw])


def _json_node(raw: msgspec.Raw) -> Node | None:
    values = decode(raw, dict[str, msgspec.Raw], None)
    if values is None:
        return None
    texts = {key: text for key, value in values.items() if (text := _plain(value)) is not None}
    for inner in ("rt_info", "data"):
        more: dict[str, msgspec.Raw] = decode(values.get(inner, b""), dict[str, msgspec.Raw], {})
        texts |= {key: text for key, value in more.items() if (text := _plain(value)) is not None}
    name = texts.get("name") or texts.get("friendly_name")
    return Node(name, texts.get("type", ""), attributes=texts) if name else None


def _counted_node(raw: msgspec.Raw) -> Node | None:
    found = decode(raw, _Counted, None)
    name = found and (found.node_name or found.name)
    if found is None or not isinstance(name, str):
        return None
    ran = "EXECUTED" in str(found.status).upper()
    attributes = {
        "layerType": str(found.node_type or ""),
        "primitiveType": str(found.exec_type or ""),
        "execTimeMcs": (_plain(found.real_us) or "") if ran else "not_executed",
    }
    return Node(name, "", attributes=attributes)


def _plain(raw: msgspec.Raw) -> str | None:
    """Text of a JSON string or number; None for everything else."""
    data = bytes(raw)
    if data.startswith(b'"'):
        return decode(data, str, None)
    return data.decode("ascii", "replace")[:60] if data[:1] in b"-0123456789" and data else None
