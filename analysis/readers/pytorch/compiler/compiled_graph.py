"""CompiledGraph: what the compiler tells of one graph that it compiled, in either of two places.

TORCH_TRACE=<folder> writes a log of lines with a JSON head, each with what was written below it,
TORCH_COMPILE_DEBUG=1 a folder of files for each graph. All of it may be hostile: JSON of unknown
shape is left out, and code is only searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.pytorch.compiler.fx_graph import Node, read_graph

_MAX_PAYLOAD = 64 * 1024 * 1024
_MAX_GRAPHS = 2000
_MAX_STEPS = 100_000
_LINE = re.compile(rb"[VIDWE]\d{4} [\d:.]{8,20} \d{1,10} \S{1,200}\] (\{.*)")
_MAPPING = re.compile(rb'\s*\{\s*"(?:preToPost|postToPre|cppCodeToPost)"\s*:')
_CODE = re.compile(rb"# AOT ID: \[")
_HANDLE = re.compile(r"^ {4,40}# \[Provenance debug handles\] (.{1,2000})$", re.MULTILINE)
_GRAPH_NAMES = ("before_pre_grad_graph", "inductor_post_grad_graph")
_MAP_NAME = "inductor_provenance_tracking_node_mappings"
_CODE_NAME = "output_code.py"
_DEBUG_GRAPHS = ("fx_graph_transformed.py", "fx_graph_readable.py")


@dataclass(frozen=True)
class CompiledGraph:
    """One graph as it was compiled.

    `steps` are kernels and library calls in the order in which the generated program calls them, as
    'kernel:number'; `nodes_of` has the nodes of the optimised graph in each, `sources` those of the
    graph as it was given that a node stems from. `key` is what the profiler calls the graph by, ''
    where that is not known.
    """

    steps: tuple[str, ...]
    nodes_of: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, tuple[str, ...]]
    given: tuple[Node, ...]
    optimised: tuple[Node, ...]
    key: str = ""


@dataclass
class _Draft:
    given: str = ""
    optimised: str = ""
    code: str = ""
    mapping: bytes = b""
    key: str = ""

    def graph(self) -> CompiledGraph | None:
        """The graph, where code and map are there."""
        found = _mapping(self.mapping)
        steps = _steps(self.code)
        if found is None or not steps:
            return None
        nodes_of, sources = found
        return CompiledGraph(
            steps, nodes_of, sources, read_graph(self.given), read_graph(self.optimised), self.key
        )


@dataclass
class _Drafts:
    """Drafts of one log: what is written for one compilation comes in the order of its stages."""

    open: dict[tuple[object, ...], _Draft] = field(default_factory=dict)
    done: list[_Draft] = field(default_factory=list)

    def take(self, head: Mapping[str, object], payload: bytes) -> None:
        told = head.get("artifact")
        name = told.get("name") if isinstance(told, dict) else next(iter(head), "")
        which = tuple(str(head.get(part)) for part in ("frame_id", "frame_compile_id", "rank"))
        draft = self.open.setdefault(which, _Draft())
        if name in _GRAPH_NAMES or name == "dynamo_output_graph":
            text = payload.decode("utf-8", "replace")
            if name == "inductor_post_grad_graph":
                draft.optimised = text
            elif name == "before_pre_grad_graph" or not draft.given:
                draft.given = text
        elif name == "inductor_output_code":
            # Forward and backward pass of one compilation share what was given.
            kept = _Draft(draft.given, draft.optimised, payload.decode("utf-8", "replace"))
            self.open[which] = kept
            if len(self.done) < _MAX_GRAPHS:
                self.done.append(kept)
        elif name == _MAP_NAME:
            draft.mapping = payload or draft.mapping
        elif isinstance(name, str) and name.startswith("fx_graph_cache_"):
            key = decode(payload, dict[str, object], {}).get("key")
            draft.key = key if isinstance(key, str) else ""


def is_log(head: bytes) -> bool:
    """Whether a file starts like a log of TORCH_TRACE."""
    return _LINE.match(head) is not None


def is_map(head: bytes) -> bool:
    """Whether a file starts like the compiler's map, as TORCH_COMPILE_DEBUG writes it."""
    return _MAPPING.match(head) is not None


def is_code(head: bytes) -> bool:
    """Whether a file starts like the program that inductor generated."""
    return _CODE.search(head[:2000]) is not None


def is_of_compiler(source: Source, other: Source) -> bool:
    """Whether members of kernels may come out of a file beside another, for Reader.takes."""
    name = other.path.rpartition("/")[2]
    return name in (_CODE_NAME, *_DEBUG_GRAPHS) or is_log(other.head) or is_map(other.head)


def graphs_of_log(source: Source) -> tuple[list[CompiledGraph], int]:
    """The graphs of a log, and how many programs it has without the compiler's map."""
    drafts = _Drafts()
    for head, payload in _entries(source.content):
        drafts.take(head, payload)
    return _made(drafts.done)


def graphs_of_folders(
    maps: Iterable[Source], beside: Sequence[Source]
) -> tuple[list[CompiledGraph], int, list[Source]]:
    """The graphs of TORCH_COMPILE_DEBUG's folders, programs without map, and the files read."""
    folders = {source.path.rpartition("/")[0]: source for source in maps}
    files: dict[str, dict[str, Source]] = {folder: {} for folder in folders}
    for other in beside:
        folder, _, name = other.path.rpartition("/")
        if folder in files:
            files[folder][name] = other
    drafts, used = [], []
    for folder, mapping in list(folders.items())[:_MAX_GRAPHS]:
        code = files[folder].get(_CODE_NAME)
        if code is None:
            continue
        graph = next((files[folder][n] for n in _DEBUG_GRAPHS if n in files[folder]), None)
        read = [mapping, code, *([graph] if graph else [])]
        used += read
        drafts.append(
            _Draft("", _text(graph) if graph else "", _text(code), mapping=_bounded(mapping))
        )
    graphs, lacking = _made(drafts)
    return graphs, lacking, used


def _made(drafts: Iterable[_Draft]) -> tuple[list[CompiledGraph], int]:
    made = [draft.graph() for draft in drafts]
    graphs = [graph for graph in made if graph is not None]
    return graphs, len(made) - len(graphs)


def _text(source: Source) -> str:
    return _bounded(source).decode("utf-8", "replace")


def _bounded(source: Source) -> bytes:
    return utf8(source.content[:_MAX_PAYLOAD])


def _entries(data: bytes) -> Iterator[tuple[Mapping[str, object], bytes]]:
    """Heads that may tell something here, with what stands below each, its tabs taken off."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line = data[at:end] if end - at < _MAX_PAYLOAD else b""
        at = end + 1
        found = _LINE.match(line)
        if found is None or not any(word in found[1] for word in _WANTED):
            continue
        start = at
        while data.startswith(b"\t", at):
            end = data.find(b"\n", at)
            at = len(data) if end < 0 else end + 1
        payload = data[start:at] if at - start <= _MAX_PAYLOAD else b""
        head = decode(found[1], dict[str, object], {})
        if head:
            yield head, payload.removeprefix(b"\t").replace(b"\n\t", b"\n")


_WANTED = tuple(
    name.encode()
    for name in (*_GRAPH_NAMES, "dynamo_output_graph", "inductor_output_code", _MAP_NAME,
                 "fx_graph_cache_")
)  # fmt: skip


def _mapping(
    raw: bytes,
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]] | None:
    """Nodes of each kernel, and what each node stems from; None without a map."""
    told = decode(raw, dict[str, object], {})
    nodes_of = _lists(told.get("cppCodeToPost"))
    return (nodes_of, _lists(told.get("postToPre"))) if nodes_of else None


def _lists(told: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(told, dict):
        return {}
    return {
        key: tuple(dict.fromkeys(name for name in names if isinstance(name, str)))
        for key, names in told.items()
        if isinstance(key, str) and isinstance(names, list)
    }


def _steps(code: str) -> tuple[str, ...]:
    """'kernel:number' in the order of the generated program."""
    steps: list[str] = []
    for found in _HANDLE.finditer(code):
        steps += [part.strip() for part in found[1].split(",") if ":" in part]
        if len(steps) > _MAX_STEPS:
            break
    return tuple(steps[:_MAX_STEPS])
