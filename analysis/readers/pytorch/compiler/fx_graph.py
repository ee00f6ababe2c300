"""Graphs as torch.fx prints them: Python code, of which assignments are read, and nothing is run.

`layer_norm: "f32[8, 64]" = torch.nn.functional.layer_norm(x, (64,), …);  x = None`, below a comment
with the line of the model that it stems from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fusescope.analysis.text import clean_text

MAX_NODES = 100_000
_MAX_LINE = 4000
_FILE = re.compile(r"\s*# File: (?:.{0,400}[\\/])?([^\\/:]{1,100}):(\d{1,7})(?: in (\w{1,100}))?"
                   r"(?:, code: (.{0,400}))?")  # fmt: skip
_NODE = re.compile(r'\s+([A-Za-z_]\w{0,199})(?:\s*:\s*"[^"]{0,400}")?\s*=\s*(\S.{0,3600})')
# `out_4 += x_3;  out_5: "f32[8]" = out_4;  out_4 = x_3 = None` is the node out_5.
_IN_PLACE = re.compile(
    r"\s+([A-Za-z_]\w{0,199}) (\*\*|//|<<|>>|[-+*/@%&|^])= (\S[^;]{0,400});"
    r'\s{1,4}([A-Za-z_]\w{0,199})(?:\s*:\s*"[^"]{0,400}")?\s*= \1\s*(?:;|$)'
)
_CALL = re.compile(r"((?:[A-Za-z_]\w{0,99}\.){0,9}[A-Za-z_]\w{0,99})\(")
_ITEM = re.compile(r"[A-Za-z_]\w{0,199}\[")
_BINARY = re.compile(r"\S{1,200} (\*\*|//|<<|>>|==|!=|<=|>=|[-+*/@%&|^<>]) \S")
# A name that is read: no attribute, no function, no keyword.
_READ = re.compile(r"(?<![\w.])([A-Za-z_]\w{0,199})(?![\w(]|\s?=(?!=))")
_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "@": "matmul", "**": "pow", "%": "remainder",
    "//": "floor_divide", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
}  # fmt: skip
# Methods and functions whose eager operator is called otherwise.
_ALIASES = {
    "float": "to", "half": "to", "bfloat16": "to", "double": "to", "type": "to", "int": "to",
    "long": "to", "bool": "to", "type_as": "to", "truediv": "div", "iadd": "add", "imul": "mul",
    "isub": "sub", "itruediv": "div",
}  # fmt: skip
_OVERLOADS = re.compile(r"torch\.ops\.(\w{1,60})\.(\w{1,99})(?:\.\w{1,60})?\Z")
_NUMBERED = re.compile(r"_\d{1,9}\Z")
# Only change how memory is read: no kernel computes them.
VIEWS = frozenset(
    (
        "view", "reshape", "permute", "transpose", "t", "expand", "expand_as", "squeeze",
        "unsqueeze", "slice", "select", "narrow", "unbind", "split", "split_with_sizes", "chunk",
        "unflatten", "flatten", "as_strided", "alias", "detach", "view_as", "_unsafe_view",
        "unfold", "movedim", "swapaxes", "diagonal", "getitem", "getattr", "size", "dim", "shape",
        "numel", "stride", "sym_size", "lift_fresh", "full", "scalar_tensor", "empty", "iota",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Node:
    """One node: its plain type ('' where the code does not tell), line of source, and inputs."""

    name: str
    op_type: str
    place: str
    inputs: tuple[str, ...]


def read_graph(text: str) -> tuple[Node, ...]:
    """The nodes of a printed graph in order; what is not an assignment of a call is left out."""
    return tuple(_nodes(text))


def type_of_name(name: str) -> str:
    """The type in a node's name: 'mul_12' -> 'mul', 'div_tensor_2' -> 'div_tensor'."""
    return _NUMBERED.sub("", name)


def _nodes(text: str) -> Iterator[Node]:
    place = ""
    known: set[str] = set()
    for line in text.splitlines():
        if len(line) > _MAX_LINE:
            continue
        file = _FILE.match(line)
        if file is not None:
            code = f": {file[4].strip()}" if file[4] else ""
            place = clean_text(f"{file[1]}:{file[2]}{code}", 160)
            continue
        if len(known) >= MAX_NODES:
            continue
        in_place, found = _IN_PLACE.match(line), _NODE.match(line)
        if in_place is not None:
            name, code = in_place[4], f"{in_place[1]} {in_place[2]} {in_place[3]}"
        elif found is not None:
            name, code = found[1], found[2].split(";", 1)[0].strip()
        else:
            continue
        kind = _type(code)
        if kind is None or name in known:
            continue
        read = (word for word in _READ.findall(code) if word in known)
        inputs = tuple(dict.fromkeys(read))
        known.add(name)
        yield Node(name, kind, place, inputs)


def _type(code: str) -> str | None:
    """The plain type of a right-hand side; None for a mere name."""
    call = _CALL.match(code)
    if call is not None:
        packed = _OVERLOADS.match(call[1])
        word = packed[2] if packed else call[1].rsplit(".", 1)[-1]
        if word == "getattr":
            return "getattr"
        return _plain(word)
    if _ITEM.match(code):
        return "getitem"
    binary = _BINARY.match(code)
    if binary is not None:
        return _OPERATORS[binary[1]]
    if code[:1] == "-":
        return "neg"
    if code[:1] == "~":
        return "bitwise_not"
    return "getattr" if "." in code else None


def _plain(word: str) -> str:
    """Without the mark of an operator that works in place: 'relu_' -> 'relu'."""
    bare = word[:-1] if word.endswith("_") and not word.endswith("__") else word
    return _ALIASES.get(bare, bare)
