"""The program that MindSpore runs, from the text that it writes of it (save_graphs=2).

The text has the kernels in the order they run: one line each, with what it reads, then lines with
types and shapes, its full name, and the lines of code that it comes from. A graph kernel is a call
of a subgraph, which has the operators inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

_ENTRY = re.compile(r"# IR entry: @(\S+)")
_HEADER = re.compile(r"subgraph @(\S+?)\((.*)\) ?\{")
_PARAMETER = re.compile(r"(%para\d+_\S+?): <(.*)IsWeight: (true|false)")
_STATEMENT = re.compile(r"  (?:(%\d+)\(.*?\) = )?([A-Za-z_][\w.]*|call @\S+?)\(")
_NAME = re.compile(r"# Fullname with scope: \((.+)\)$")
_SOURCE = re.compile(r"# In file (.+?):(\d+)(?:~\d+)?, \d+~\d+/")
_KERNEL = re.compile(r"^graph_kernel: (\S+)", re.MULTILINE)
_INFO = re.compile(r"^info_name: (\S+)", re.MULTILINE)
_EXPANDED = re.compile(r'expand_from: "(\w+)"')
_TYPED = re.compile(r"Tensor\[(\w+)\]\]?, \(([\d, ]*)\)")
_READS = re.compile(r"%(?:para\d+_[^\s,()]+|\d+)")
_QUOTED = re.compile(r'"[^"]*"')
_PRIMITIVE = "PrimFunc_"
_NUMBERED = re.compile(r"-op\d+$")
ALIASES = ("Load", "Depend")


@dataclass(frozen=True)
class Inside:
    """An operator inside a graph kernel; `expanded` is the type of the one that it is a part of, ''
    where it is one itself."""

    name: str
    op_type: str
    expanded: str


@dataclass(frozen=True)
class Kernel:
    """One kernel: the tensors it reads and writes, '' for one that nobody reads. `info` names the
    file that AKG wrote of it, '' for MindSpore's own kernels. `code` are the places in code that it
    comes from, file and line, outermost first. In an eager run the profiler calls it `event`, and a
    `view` runs nothing."""

    name: str
    op_type: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    inside: tuple[Inside, ...] = ()
    info: str = ""
    code: tuple[tuple[str, int], ...] = ()
    event: str = ""
    view: bool = False

    @property
    def operators(self) -> tuple[str, ...]:
        """The types of the operators inside, each of which may be expanded into several."""
        found: list[str] = []
        last = ""
        for one in self.inside:
            if not one.expanded or one.expanded != last:
                found.append(one.expanded or one.op_type)
            last = one.expanded
        return tuple(found)


@dataclass(frozen=True)
class Given:
    """What the program is given: an input, or a weight."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    is_weight: bool


@dataclass(frozen=True)
class Program:
    """`outputs` are what it returns, in order."""

    given: tuple[Given, ...]
    kernels: tuple[Kernel, ...]
    outputs: tuple[str, ...]


def files_of(folder: Path) -> list[Path]:
    """The files of programs that were written below the folder, one for each program."""
    return sorted(folder.glob("**/graph_build_*.ir"))


def read_program(folder: Path) -> Program:
    """The one program that was written below the folder. Raises ValueError where there is none, or
    several, as of a model with branches or loops."""
    files = files_of(folder)
    if len(files) != 1:
        raise ValueError(f"MindSpore made {len(files)} graphs of the model, not one")
    return parse_program(files[0].read_text(errors="replace"))


def parse_program(text: str) -> Program:
    """Raises ValueError for a program that calls others beside graph kernels."""
    entry = _ENTRY.search(text)
    if entry is None:
        raise ValueError("the text of the program has no entry")
    subgraphs = {part.name: part for part in _subgraphs(text)}
    main = subgraphs.get(entry[1])
    if main is None:
        raise ValueError("the entry of the program is missing")
    given: dict[str, Given] = {}
    for found in _PARAMETER.finditer(text):
        typed = _TYPED.search(found[2])
        name = found[1].partition("_")[2]
        dtype, shape = (typed[1].lower(), _shape(typed[2])) if typed else ("", ())
        given[found[1]] = Given(name, dtype, shape, found[3] == "true")
    return _Reading(given, subgraphs).program(main)


@dataclass
class _Statement:
    target: str
    what: str
    reads: tuple[str, ...]
    line: str
    name: str = ""
    code: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class _Subgraph:
    name: str
    kernel: str
    info: str
    statements: list[_Statement] = field(default_factory=list)


def _subgraphs(text: str) -> Iterator[_Subgraph]:
    head: list[str] = []
    current: _Subgraph | None = None
    for line in text.splitlines():
        if current is None:
            header = _HEADER.match(line)
            if header is None:
                head = [] if line == "subgraph attr:" else [*head, line]
                continue
            before = "\n".join(head)
            kernel, info = _KERNEL.search(before), _INFO.search(before)
            current = _Subgraph(header[1], kernel[1] if kernel else "", info[1] if info else "")
        elif line == "}":
            yield current
            current, head = None, []
        elif found := _STATEMENT.match(line):
            arguments = _QUOTED.sub("", _arguments(line, found.end()))
            reads = tuple(_READS.findall(arguments))
            current.statements.append(_Statement(found[1] or "", found[2], reads, line))
        elif current.statements:
            last = current.statements[-1]
            if named := _NAME.search(line):
                last.name = named[1]
            elif place := _SOURCE.search(line):
                last.code.append((place[1], int(place[2])))


def _arguments(line: str, start: int) -> str:
    """What stands between the bracket before `start` and the one that closes it."""
    depth, quoted = 1, False
    for at in range(start, len(line)):
        if line[at] == '"':
            quoted = not quoted
        elif not quoted and line[at] in "()":
            depth += 1 if line[at] == "(" else -1
            if not depth:
                return line[start:at]
    return line[start:]


@dataclass
class _Reading:
    given: Mapping[str, Given]
    subgraphs: Mapping[str, _Subgraph]
    # What a name of the text stands for: tensors, of a tuple several.
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _kernels: list[Kernel] = field(default_factory=list)
    _parts: dict[str, set[int]] = field(default_factory=dict)

    def program(self, main: _Subgraph) -> Program:
        self._known = {own: (one.name,) for own, one in self.given.items()}
        outputs: tuple[str, ...] = ()
        for one in main.statements:
            if one.what == "Return":
                outputs = self._tensors(one.reads)
            elif one.what in ALIASES:
                self._known[one.target] = self._tensors(one.reads[:1])
            elif one.what == "MakeTuple":
                self._known[one.target] = self._tensors(one.reads)
            elif one.what == "TupleGetItem":
                self._known[one.target] = (self._part(one),)
            elif one.what != "UpdateState":
                self._kernel(one)
        kernels = tuple(self._with_outputs(one) for one in self._kernels)
        return Program(tuple(self.given.values()), kernels, outputs)

    def _tensors(self, reads: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for read in reads for name in self._known.get(read, ()))

    def _part(self, one: _Statement) -> str:
        whole = self._known.get(one.reads[0], ())
        found = re.search(r"I64\((\d+)\)", one.line)
        place = int(found[1]) if found else 0
        if len(whole) > 1:
            return whole[place]
        self._parts.setdefault(whole[0], set()).add(place)
        return part_of(whole[0], place)

    def _kernel(self, one: _Statement) -> None:
        if not one.name:
            raise ValueError(f"the text of the program has no name for {one.what[:80]}")
        inside: tuple[Inside, ...] = ()
        info = ""
        if one.what.startswith("call @"):
            called = self.subgraphs.get(one.what.removeprefix("call @"))
            if called is None or not called.kernel:
                raise ValueError("the program calls parts of itself: it has branches or loops")
            info = called.info
            inside = tuple(_inside(part) for part in called.statements if part.what != "Return")
        elif one.what in ("Partial", "Switch", "SwitchLayer"):
            raise ValueError("the program has branches or loops")
        self._known[one.target] = (one.name,)
        self._kernels.append(
            Kernel(
                name=one.name,
                op_type=type_in(one.name),
                reads=tuple(dict.fromkeys(self._tensors(one.reads))),
                writes=(one.name,),
                inside=inside,
                info=info,
                code=tuple(one.code),
            )
        )

    def _with_outputs(self, kernel: Kernel) -> Kernel:
        places = self._parts.get(kernel.name)
        if places is None:
            return kernel
        writes = [part_of(kernel.name, at) if at in places else "" for at in range(max(places) + 1)]
        return replace(kernel, writes=tuple(writes))


def _inside(one: _Statement) -> Inside:
    expanded = _EXPANDED.search(one.line)
    op_type = one.what.removeprefix(_PRIMITIVE)
    return Inside(one.name or op_type, op_type, expanded[1] if expanded else "")


def part_of(name: str, place: int) -> str:
    """What we call one of several tensors of a kernel."""
    return f"{name}:{place}"


def type_in(name: str) -> str:
    """'Default/net/Conv2D-op0' -> 'Conv2D'."""
    return _NUMBERED.sub("", name.rsplit("/", 1)[-1])


def scope_in(name: str) -> str:
    """The modules in a full name: 'Default/stem-ConvBn/conv-Conv2d/Conv2D-op0' -> 'stem/conv'."""
    parts = name.split("/")[1:-1]
    return "/".join(part.rpartition("-")[0] or part for part in parts)


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(",") if size.strip())
