"""Depthwise convolution, one plane after the other, in tiles that stay in the first cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fusescope.analysis.graph import Graph, Node
from fusescope.collectors.kernels import Kernel, compiled
from fusescope.collectors.kernels.group import STANDARD, Program, shape_of, size

MAX_TAPS = 121  # each is a line of the kernel
TILE_BYTES = 20 * 1024  # of scratch memory for a thread: fits the first cache beside the output
_WORTH_A_THREAD = 1 << 21  # multiply-adds: about as long as waking the threads

Pair = tuple[int, int]  # vertical, horizontal


def groups(graph: Graph, kernel: Kernel) -> list[Depthwise]:
    """Every float32 convolution of images with one filter for each channel, in graph order."""
    del kernel  # it is about no op types
    return [found for node in graph.nodes for found in _depthwise(node, graph)]


@dataclass(frozen=True)
class _Tile:
    """Rows of the output at a time; width and size of a phase plane, where the sums lie, and how
    much there is in all, in values."""

    rows: int
    width: int
    phase: int
    sums: int
    scratch: int


@dataclass(frozen=True)
class Depthwise:
    """A Group (collectors/kernels/group.py) of one convolution, which keeps its type: its
    floating-point operations are those of the engine's. `before` is the padding in front."""

    node: Node
    image: tuple[int, ...]
    shape: tuple[int, ...]
    kernel: Pair
    strides: Pair
    dilations: Pair
    before: Pair
    op_name: str = "Conv"
    replaceable: tuple[str, ...] = ()  # neighbours are read again

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (self.node,)

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def operands(self) -> tuple[str, ...]:
        return tuple(name for name in self.node.inputs if name)

    @property
    def output(self) -> str:
        return self.node.outputs[0]

    def program(self, *, over: str, threads: int, grain_bytes: int = 0) -> Program:
        """Planes in as many parts as there are threads; scratch memory for each part.

        A tile of the input is copied into scratch memory with its padding, one plane for every
        phase of the strides, so that all taps read contiguous values whatever the stride.
        """
        assert not over
        del grain_bytes  # its work is its operations
        planes = self.shape[0] * self.shape[1]
        work = size(self.shape) * size(self.kernel)
        cut = min(threads, planes, max(1, work // _WORTH_A_THREAD))
        numbers = (planes, *self.image[1:], *self.shape[2:], cut)
        tile = self._tile()
        return Program(self._source(tile, is_parallel=cut > 1), numbers, tile.scratch * cut)

    def _tile(self) -> _Tile:
        (down, across), (reach_down, reach_across) = self.strides, self._reach
        width = self.shape[3] + reach_across
        phases = down * across
        rows = (TILE_BYTES // 4 // width - reach_down * phases) // (phases + 1)
        rows = max(1, min(self.shape[2], rows))
        phase = (rows + reach_down) * width
        # The sums run over whole rows of a phase plane: the last taps read a few values beyond.
        sums = _rounded(phase * phases + reach_across)
        return _Tile(rows, width, phase, sums, sums + _rounded(rows * width))

    @property
    def _reach(self) -> Pair:
        """Rows and columns of a phase plane beyond those of the output."""
        down, across = (
            (self.kernel[axis] - 1) * self.dilations[axis] // self.strides[axis] for axis in (0, 1)
        )
        return down, across

    def _source(self, tile: _Tile, *, is_parallel: bool) -> str:
        """The module. The tile's sizes are numbers in it, so that the compiler knows how far apart
        what is read and what is written lie, and need not check."""
        (down, across), (top, left) = self.strides, self.before
        has_bias = len(self.operands) > 2
        reach = self._reach[0]
        weights, taps = [], []
        for index, (row, column) in enumerate(self._taps()):
            weights.append(f"w{index} = w[c * {size(self.kernel)} + {index}]")
            phase = (row % down) * across + column % across
            offset = phase * tile.phase + row // down * tile.width + column // across
            taps.append(f"w{index} * mine[{offset} + i]")
        arrays = ["y", "x", "w", *(["b"] if has_bias else []), "scratch"]
        numbers = ["planes", "channels", "height", "columns", "rows_out", "columns_out", "parts"]
        signature = ", ".join([*["float32[::1]"] * len(arrays), *["intp"] * len(numbers)])
        told = ", ".join([*arrays, *numbers])
        entry = (
            ["for place in prange(parts):", f"    run({told}, np.intp(place))"]
            if is_parallel
            else [f"run({told}, 0)"]
        )
        lines = [
            "# Made by FuseScope; it is made again when it is missing.",
            "import numpy as np",
            "from numba import njit, prange",
            "",
            "",
            # Slices start every loop at 0: else each index is checked for being negative.
            '@njit(error_model="numpy", fastmath={"contract"})',
            "def copy_tile(x, scratch, plane, height, columns, first, rows):",
            f"    for py in range({down}):",
            f"        for px in range({across}):",
            f"            low = min({tile.width}, max(0, -((px - {left}) // {across})))",
            f"            high = (columns + {left} - px + {across - 1}) // {across}",
            f"            high = max(low, min({tile.width}, high))",
            f"            for r in range(rows + {reach}):",
            f"                row = (first + r) * {down} + py - {top}",
            f"                start = (py * {across} + px) * {tile.phase} + r * {tile.width}",
            f"                line = scratch[start : start + {tile.width}]",
            "                if row < 0 or row >= height:",
            f"                    for q in range({tile.width}):",
            "                        line[q] = np.float32(0.0)",
            "                    continue",
            "                for q in range(low):",
            "                    line[q] = np.float32(0.0)",
            f"                at = (plane * height + row) * columns + px - {left} + low * {across}",
            "                source, middle = x[at:], line[low:high]",
            "                for q in range(high - low):",
            f"                    middle[q] = source[np.uintp(q) * np.uintp({across})]",
            "                end = line[high:]",
            f"                for q in range({tile.width} - high):",
            "                    end[q] = np.float32(0.0)",
            "",
            "",
            '@njit(error_model="numpy", fastmath={"contract"})',
            f"def run({told}, part):",
            f"    mine = scratch[part * {tile.scratch} : (part + 1) * {tile.scratch}]",
            "    for plane in range(part * planes // parts, (part + 1) * planes // parts):",
            "        c = plane % channels",
            f"        start = {'b[c]' if has_bias else 'np.float32(0.0)'}",
            *(f"        {line}" for line in weights),
            f"        for first in range(0, rows_out, {tile.rows}):",
            f"            rows = min({tile.rows}, rows_out - first)",
            "            copy_tile(x, mine, plane, height, columns, first, rows)",
            f"            for i in range(rows * {tile.width}):",
            "                t = start",
            *(f"                t += {tap}" for tap in taps),
            f"                mine[{tile.sums} + i] = t",
            "            for r in range(rows):",
            "                at = (plane * rows_out + first + r) * columns_out",
            f"                line, sums = y[at:], mine[{tile.sums} + r * {tile.width} :]",
            "                for q in range(columns_out):",
            "                    line[q] = sums[q]",
            "",
            "",
            f'@njit(["void({signature})"], cache=True, parallel={is_parallel})',
            f"def {compiled.ENTRY}({told}):",
            *(f"    {line}" for line in entry),
            "",
        ]
        return "\n".join(lines)

    def _taps(self) -> Iterator[Pair]:
        """Rows and columns of the padded input that a filter reaches, in the filter's order."""
        for row in range(self.kernel[0]):
            for column in range(self.kernel[1]):
                yield row * self.dilations[0], column * self.dilations[1]


def _rounded(floats: int) -> int:
    """Up to whole cache lines."""
    return -(-floats // 16) * 16


def _depthwise(node: Node, graph: Graph) -> Iterator[Depthwise]:
    if node.op_type != "Conv" or node.domain not in STANDARD or len(node.outputs) != 1:
        return
    inputs = [name for name in node.inputs if name]
    shapes = [shape_of(graph, name) for name in (*inputs, *node.outputs)]
    if len(inputs) < 2 or None in shapes or len(inputs) != len(node.inputs):
        return
    image, weight, output = shapes[0] or (), shapes[1] or (), shapes[-1] or ()
    if not len(image) == len(weight) == len(output) == 4:
        return
    channels = image[1]
    if node.attributes.get("group", 1) != channels or weight[:2] != (channels, 1):
        return
    kernel = (weight[2], weight[3])
    strides, dilations = _pair(node, "strides"), _pair(node, "dilations")
    if output[1] != channels or size(kernel) > MAX_TAPS or strides is None or dilations is None:
        return
    before = _padding(node, image, output, kernel, strides, dilations)
    if before is not None:
        yield Depthwise(node, image, output, kernel, strides, dilations, before)


def _padding(
    node: Node,
    image: tuple[int, ...],
    output: tuple[int, ...],
    kernel: Pair,
    strides: Pair,
    dilations: Pair,
) -> Pair | None:
    """Padding in front, vertical and horizontal."""
    told = node.attributes.get("auto_pad", "NOTSET")
    if told in ("SAME_UPPER", "SAME_LOWER"):
        before = []
        for axis in (0, 1):
            reach = (kernel[axis] - 1) * dilations[axis] + 1
            total = max(0, (output[2 + axis] - 1) * strides[axis] + reach - image[2 + axis])
            before.append(total // 2 if told == "SAME_UPPER" else (total + 1) // 2)
        return before[0], before[1]
    if told == "VALID":
        return 0, 0
    pads = node.attributes.get("pads", [0, 0, 0, 0])
    if not isinstance(pads, list) or len(pads) != 4 or any(int(pad) < 0 for pad in pads):
        return None
    return int(pads[0]), int(pads[1])


def _pair(node: Node, name: str) -> Pair | None:
    value = node.attributes.get(name, [1, 1])
    if not isinstance(value, list) or len(value) != 2 or any(int(item) < 1 for item in value):
        return None
    return int(value[0]), int(value[1])
