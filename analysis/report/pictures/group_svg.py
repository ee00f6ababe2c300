"""The operators of a fusion group as a small drawing: boxes, and the tensors between them."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from fusescope.analysis import units
from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.messages import say
from fusescope.analysis.operators.classes import op_class
from fusescope.analysis.report.pictures.layered import Layout, Point, lay_out
from fusescope.analysis.text import printable

MAX_OPERATORS = 40
MAX_TENSORS = 12  # of the boundary, on either side
_TEXT_CHARS = 30
_TITLE_CHARS = 300
_LINE = 15.0
_PADDING = 7.0
_MARGIN = 10.0
_LABEL_ROOM = 96.0
_PORTS = 18.0
_DTYPES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
_STYLE = """
.fsg{color-scheme:light dark;font:12px system-ui,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
.fsg text{fill:#1b2430;text-anchor:middle}
.fsg .b{fill:#fff;stroke:#b6bec8}
.fsg .t{font-weight:600;font-size:13px}
.fsg .m{fill:#57606a;font-size:11px}
.fsg .p{fill:#eef1f4;stroke:#b6bec8}
.fsg .l{fill:#57606a;font-size:11px;text-anchor:start}
.fsg .l{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.fsg .e{fill:none;stroke:#7d8793;stroke-width:1.3}
.fsg .a{fill:#7d8793}
.fsg .n{stroke-dasharray:4 4}
@media screen and (prefers-color-scheme:dark){
.fsg text{fill:#e8ecf1}
.fsg .b{fill:#1c222b;stroke:#4a5563}
.fsg .m,.fsg .l{fill:#a3adb8}
.fsg .l{stroke:#12161c}
.fsg .p{fill:#262e39;stroke:#4a5563}
}
"""


@dataclass(frozen=True)
class _Vertex:
    """A box or a pill: its lines of text, the first one bold in a box."""

    lines: tuple[str, ...]
    title: str
    colour: str | None = None  # of a box; a pill has none

    @property
    def size(self) -> tuple[float, float]:
        widths = [
            len(line) * ((8.3 if self.colour else 7.0) if k == 0 else 6.2)
            for k, line in _numbered(self.lines)
        ]
        return max(92.0, max(widths) + 24.0), _LINE * len(self.lines) + 2 * _PADDING


def group_svg(
    graph: Graph, names: Sequence[str], inputs: Sequence[str] = (), outputs: Sequence[str] = ()
) -> str:
    """One SVG document: the nodes of `graph` that `names` lists, top to bottom.

    Boxes are operators with their weights' shapes, pills the tensors that come in and go out,
    labels the tensors between. The boundary is read from `graph`; `inputs` and `outputs` (the
    group's boundary as the model names it) stand for it where no operator is left. Names that
    `graph` lacks are left out, and what is too much is counted. Every text is escaped and cut;
    the drawing has colours for light and dark, no script and no reference to anything outside.
    """
    wanted = set(names)
    nodes = [node for node in graph.nodes if node.name in wanted]
    cut = max(0, len(nodes) - MAX_OPERATORS)
    drawing = _Drawing(graph, nodes[:MAX_OPERATORS])
    if not nodes:
        return drawing.without_operators(inputs, outputs)
    return drawing.svg(cut)


class _Drawing:
    """Vertices and edges of one group, in topological order."""

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        self.graph = graph
        self.nodes = nodes
        self.vertices: list[_Vertex] = []
        self.edges: list[tuple[int, int]] = []
        self.labels: list[str] = []  # one an edge
        self.left_out = 0

    def svg(self, cut: int) -> str:
        made = {name: k for k, node in enumerate(self.nodes) for name in node.outputs if name}
        read = [name for node in self.nodes for name in (*node.inputs, *node.captured)]
        came = [name for name in dict.fromkeys(read) if name and name not in made]
        came = self._bounded([name for name in came if not self._constant(name)])
        inside = set(map(id, self.nodes))
        left = [name for name in made if self._leaves(name, inside)]
        left = self._bounded(left)
        self.vertices += [self._pill(name) for name in came]
        late = range(len(came))
        at = {name: k for k, name in enumerate(came)}
        labelled: set[str] = set()
        for node in self.nodes:
            here = len(self.vertices)
            self.vertices.append(self._box(node))
            for name in dict.fromkeys((*node.inputs, *node.captured)):
                if name not in at:
                    continue
                is_inner = name in made and name not in labelled
                labelled.add(name)
                self._edge(at[name], here, self._shape(name, short=True) if is_inner else "")
            at.update((name, here) for name in node.outputs if name)
        for name in left:
            self.vertices.append(self._pill(name))
            self._edge(at[name], len(self.vertices) - 1, "")
        return self._draw(late, cut)

    def without_operators(self, inputs: Sequence[str], outputs: Sequence[str]) -> str:
        """Nothing runs: the tensors that come in are those that go out, or weights."""
        came, left = self._bounded(list(inputs)), self._bounded(list(outputs))
        self.vertices += [self._pill(name) for name in came]
        here = len(self.vertices)
        self.vertices.append(_Vertex((say("no operator"),), say("No operator runs in its place.")))
        self.vertices += [self._pill(name) for name in left]
        for start in range(here):
            self._edge(start, here, "")
        for end in range(here + 1, len(self.vertices)):
            self._edge(here, end, "")
        return self._draw(range(here), 0, empty=here)

    # What is drawn.

    def _box(self, node: Node) -> _Vertex:
        lines = [units.middle_cut(printable(node.op_type) or "?", _TEXT_CHARS)]
        if node.name:
            lines.append(units.middle_cut(printable(node.name), _TEXT_CHARS))
        if node.domain not in ("", "ai.onnx"):
            lines.append(units.middle_cut(printable(node.domain), _TEXT_CHARS))
        activation = node.attributes.get("activation")
        if isinstance(activation, str):
            lines.append(
                units.middle_cut(
                    say("then {op_type:name}", op_type=printable(activation)), _TEXT_CHARS
                )
            )
        weights = [
            self._shape(name, short=True) for name in node.inputs if name and self._constant(name)
        ]
        if weights:
            first, more = weights[0], len(weights) - 1
            if all(weight.endswith(say("scalar")) for weight in weights):
                text = say("constant {shape:name}", shape=first)
            else:
                text = say("weights {shape:name}", shape=first)
            if more:
                text = say("{text} + {more:count} more", text=text, more=more)
            lines.append(units.middle_cut(text, _TEXT_CHARS + 4))
        title = "\n".join((node.op_type, node.name, *weights))
        return _Vertex(tuple(lines), title, _colours()[op_class(node.op_type)])

    def _pill(self, name: str) -> _Vertex:
        shape = self._shape(name)
        lines = (units.middle_cut(printable(name), _TEXT_CHARS), *([shape] if shape else []))
        return _Vertex(lines, f"{name}\n{shape}")

    def _edge(self, start: int, end: int, label: str) -> None:
        self.edges.append((start, end))
        self.labels.append(label)

    def _bounded(self, names: list[str]) -> list[str]:
        self.left_out += max(0, len(names) - MAX_TENSORS)
        return names[:MAX_TENSORS]

    def _constant(self, name: str) -> bool:
        tensor = self.graph.tensor.get(name)
        return tensor is not None and tensor.constant

    def _leaves(self, name: str, inside: set[int]) -> bool:
        readers = self.graph.consumers.get(name, [])
        return name in self.graph.returned or any(id(node) not in inside for node in readers)

    def _shape(self, name: str, *, short: bool = False) -> str:
        """'float32 1×64×56×56', the data type in short where asked; '' when nothing is known."""
        tensor = self.graph.tensor.get(name)
        if tensor is None:
            return ""
        dtype = printable(tensor.dtype or "")
        sizes = say("scalar") if tensor.shape == () else ""
        if tensor.shape:
            sizes = "×".join("?" if size < 0 else str(size) for size in tensor.shape)
        dtype = _DTYPES.get(dtype, dtype) if short else dtype
        return units.middle_cut(" ".join(filter(None, (dtype, sizes))), _TEXT_CHARS)

    # How.

    def _draw(self, late: range, cut: int, *, empty: int | None = None) -> str:
        sizes = [vertex.size for vertex in self.vertices]
        layout = lay_out(sizes, self.edges, late)
        notes = []
        if cut:
            notes.append(say("and {n:count} more operator", "and {n:count} more operators", n=cut))
        if self.left_out:
            notes.append(
                say(
                    "and {n:count} more tensor at the boundary",
                    "and {n:count} more tensors at the boundary",
                    n=self.left_out,
                )
            )
        width = layout.width + 2 * _MARGIN + (_LABEL_ROOM if any(self.labels) else 0.0)
        height = layout.height + 2 * _MARGIN + _LINE * len(notes)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="fsg" role="img" '
            f'aria-label="{_escape(self._summary())}" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}"><style>{_STYLE}</style>'
            f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">'
        )
        parts = [head, *_lines(layout, sizes, self.edges, self.labels, empty)]
        for number, (vertex, index) in enumerate(zip(self.vertices, layout.vertices, strict=True)):
            parts.append(_shape(vertex, index, number == empty))
        for number, note in enumerate(notes):
            y = layout.height + _LINE * (number + 1)
            parts.append(f'<text class="l" x="0" y="{y:.1f}">{_escape(note)}</text>')
        return "".join([*parts, "</g></svg>"])

    def _summary(self) -> str:
        types = ", ".join(node.op_type for node in self.nodes) or say("no operator")
        return units.middle_cut(printable(types), _TITLE_CHARS)


def _shape(vertex: _Vertex, index: Point, empty: bool) -> str:
    x, y = index
    width, height = vertex.size
    left = x - width / 2
    radius = 4 if vertex.colour else height / 2
    kind = "b n" if empty else "b" if vertex.colour else "p"
    box = (
        f"<g><title>{_escape(printable(vertex.title)[:_TITLE_CHARS])}</title>"
        f'<rect class="{kind}" x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{radius:g}"/>'
    )
    parts = [box]
    if vertex.colour:
        parts.append(
            f'<rect x="{left:.1f}" y="{y:.1f}" width="5" height="{height:.1f}" rx="2" '
            f'fill="{vertex.colour}"/>'
        )
    for number, line in _numbered(vertex.lines):
        style = "t" if number == 0 and vertex.colour else "m" if number else "i"
        baseline = y + _PADDING + _LINE * number + 11.5
        parts.append(f'<text class="{style}" x="{x:.1f}" y="{baseline:.1f}">{_escape(line)}</text>')
    return "".join([*parts, "</g>"])


def _lines(
    layout: Layout,
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    labels: Sequence[str],
    empty: int | None,
) -> list[str]:
    parts = []
    arriving: dict[int, list[int]] = {}
    for number, (_, end) in enumerate(edges):
        if layout.edges[number] is not None:
            arriving.setdefault(end, []).append(number)

    def came_from(number: int) -> float:
        through = layout.edges[number]
        return through[-1][0] if through else layout.vertices[edges[number][0]][0]

    for end, numbers in arriving.items():
        numbers.sort(key=came_from)
        x, y = layout.vertices[end]
        spread = min(_PORTS, 0.7 * sizes[end][0] / len(numbers))
        for position, number in enumerate(numbers):
            start = edges[number][0]
            above_x, above_y = layout.vertices[start]
            begin = (above_x, above_y + sizes[start][1])
            port = x + spread * (position - (len(numbers) - 1) / 2)
            points = [begin, *(layout.edges[number] or ()), (port, y)]
            kind = "e n" if empty in (start, end) else "e"
            parts.append(f'<path class="{kind}" d="{_path(points)}"/>')
            parts.append(f'<path class="a" d="M{port:.1f} {y:.1f}l-4-7h8z"/>')
            if labels[number]:
                where = points[1]
                label_x = (begin[0] + where[0]) / 2 + 7
                label_y = (begin[1] + where[1]) / 2 + 4
                parts.append(
                    f'<text class="l" x="{label_x:.1f}" y="{label_y:.1f}">'
                    f"{_escape(labels[number])}</text>"
                )
    return parts


def _path(points: Sequence[Point]) -> str:
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        path += f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return path


@cache
def _colours() -> dict[str, str]:
    """Colour by operator class, those of the timeline."""
    from fusescope.analysis.timeline.script import style_sheet

    found: dict[str, str] = {}
    for name, colour in re.findall(r"--fst-([a-z_]+): (#[0-9a-f]{6});", style_sheet()):
        found.setdefault(name, colour)
    return found


def _numbered(lines: Sequence[str]) -> list[tuple[int, str]]:
    return list(enumerate(lines))


def _escape(text: str) -> str:
    return html.escape(text, quote=True)
