"""Who may import whom, and what may not be called: the layout in ARCHITECTURE.md, enforced.

Modules are named without `fusescope.`, which all of them have in common.
"""

from __future__ import annotations

import ast
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("analysis", "app", "collectors")
MAX_FILES = 22
PREFIX = "fusescope."
NOT_PRODUCT = ("benchmarks", "sample_traces", "scripts", "tests")


def within(package: str, names: str) -> tuple[str, ...]:
    return tuple(f"{package}.{name}" for name in names.split())


# What every other part of analysis may rest on.
CORE = within(
    "analysis",
    "axis colours errors experiment graph host_activity host_waits job limits "
    "memory messages operators originals patterns program quantity ranks spelling stacks "
    "text trace units",
)
FAMILIES = within(
    "analysis.readers", "amd ascend mindspore nvidia onnxruntime openvino pytorch xla"
)

# A module may import its own row's name, and these. The longest matching name is the row. Of CORE
# somebody, of all others each row uses what it may: a right that nobody needs goes.
ALLOWED = {
    "analysis": CORE,
    "analysis.readers": CORE,
    "analysis.readers.input": CORE,
    "analysis.readers.building": CORE,
    **{family: CORE + within("analysis.readers", "building input reader") for family in FAMILIES},
    "analysis.readers.packed": CORE + within("analysis.readers", "input reader"),
    "analysis.metrics": CORE,
    "analysis.align": (),
    "analysis.host": CORE + within("analysis", "metrics readers.building.timetable"),
    "analysis.work_units": CORE + within("analysis", "align host metrics"),
    "analysis.compare": CORE + within("analysis", "metrics work_units"),
    "analysis.compare.runs": CORE + within("analysis", "metrics compare work_units"),
    "analysis.compare.graphs": CORE + within("analysis", "align metrics work_units"),
    "analysis.compare.explanation": CORE
    + within(
        "analysis",
        "align host metrics work_units compare.graphs compare.joining compare.timing.statistics",
    ),
    "analysis.compare.model_tree": CORE
    + within(
        "analysis",
        "metrics work_units compare.comparison compare.graphs compare.joining compare.ledger",
    ),
    "analysis.compare.joining": CORE + within("analysis", "metrics"),
    "analysis.compare.groups": CORE + within("analysis", "compare.side compare.joining"),
    "analysis.compare.timing": CORE + within("analysis", "metrics compare.side"),
    "analysis.advice": CORE + within("analysis", "host metrics compare work_units"),
    "analysis.advice.explanation": CORE
    + within("analysis", "advice align compare host metrics work_units"),
    "analysis.gate": CORE + within("analysis", "compare releases"),
    "analysis.releases": CORE + within("analysis", "compare"),
    "analysis.recipes": CORE + within("analysis", "metrics compare"),
    "analysis.fleet": CORE + within("analysis", "readers compare"),
    "analysis.doctor": CORE + within("analysis", "readers metrics compare"),
    "analysis.redaction": CORE + within("analysis", "compare releases"),
    "analysis.wording": CORE
    + within("analysis", "advice compare doctor fleet gate recipes releases work_units"),
    "analysis.interval": CORE + within("analysis", "compare"),
    "analysis.distribution": CORE + within("analysis", "compare metrics"),
    "analysis.charts": CORE
    + within("analysis", "compare distribution fleet interval metrics wording"),
    "analysis.timeline": CORE + within("analysis", "compare host metrics wording work_units"),
    "analysis.columnar": CORE + within("analysis", "readers.packed"),
    "analysis.sql": CORE + within("analysis", "report"),
    "analysis.report": CORE
    + within("analysis", "readers metrics compare advice doctor fleet gate recipes redaction")
    + within("analysis", "releases distribution interval timeline wording work_units"),
    "collectors": within(
        "analysis", "errors experiment graph messages patterns releases.history spelling text"
    ),  # the doors: record, fuse, progress, and variants
    "collectors.files": within("analysis", "errors experiment"),
    "collectors.errors": ("analysis.errors", "collectors.files"),
    "collectors.models": (*within("analysis", "errors graph text"), "collectors.errors"),
    "collectors.workers": (
        *within("analysis", "errors experiment messages"),
        *within("collectors", "errors files models"),
    ),
    "collectors.environments": (
        *within("analysis", "errors messages spelling text"),
        *within("collectors", "errors files workers"),
    ),
    "collectors.releases": (
        *within("analysis", "errors graph messages"),
        *within("collectors", "environments errors files workers"),
    ),
    "collectors.kernels": (
        *within("analysis", "errors graph messages patterns spelling"),
        *within("collectors", "files models"),
    ),
    "collectors.runtimes": ("analysis.errors", *within("collectors", "models workers")),
    "collectors.tensors": (
        *within("analysis", "experiment graph"),
        *within("collectors", "errors models runtimes workers"),
    ),
    "collectors.fusion": (
        *within("analysis", "errors experiment graph patterns spelling text"),
        *within("collectors", "errors models runtimes tensors workers"),
    ),
    "collectors.zoo": (
        *within("analysis", "errors messages spelling text"),
        *within("collectors", "files models runtimes workers"),
    ),
    "collectors.translation": (*within("analysis", "errors text"), "collectors.models"),
    "collectors.torch": (
        *within("analysis", "errors experiment graph text"),
        *within("collectors", "models tensors translation workers"),
    ),
    "collectors.torch.names": ("analysis.messages",),
    "collectors.jax": (
        *within("analysis", "errors experiment graph operators text"),
        *within("collectors", "models tensors translation workers"),
    ),
    "collectors.jax.names": ("analysis.messages",),
    "collectors.mindspore": (
        *within("analysis", "errors experiment graph operators text"),
        *within("collectors", "models tensors workers"),
    ),
    "collectors.mindspore.names": ("analysis.messages",),
    "collectors.openvino": (
        *within("analysis", "errors graph operators text"),
        *within("collectors", "models workers"),
    ),
    "collectors.openvino.names": (),
    "collectors.openvino.values": (),
    "collectors.derive": (
        *within("analysis", "errors experiment graph operators.subgraph_names"),
        *within("collectors", "errors fusion kernels models runtimes tensors variants workers"),
    ),
    "collectors.recording": (
        *within("analysis", "errors experiment graph messages spelling text"),
        *within("collectors", "environments.catalogue environments.chosen files fusion kernels"),
        *within("collectors", "progress runtimes"),
        *within("collectors", "jax.names mindspore.names openvino.names openvino.values releases"),
        *within("collectors", "torch.names variants workers zoo"),
    ),
    "collectors.commands": (
        *within("analysis", "errors messages text"),
        *within("collectors", "recording.blocks workers"),
    ),
    "collectors.tasks": (
        *within("analysis", "errors experiment graph"),
        *within("collectors", "derive errors fuse fusion models recording runtimes tensors"),
        *within("collectors", "jax mindspore openvino torch translation variants workers"),
        "collectors.zoo",
    ),
    "app": ("analysis",),
    "app.server": ("analysis", "collectors.files"),
    "app.fleet": ("analysis", "collectors.files"),
    "app.state": ("analysis", "app.server"),
    "app.language": ("analysis", "app.state"),
    "app.store": ("analysis", "collectors.files"),
    "app.sources": (
        "analysis",
        *within("app", "fleet server state store"),
        "collectors.files",
    ),
    "app.library": (
        "analysis",
        *within("app", "recording sources store"),
        "collectors.files",
    ),
    "app.recording": (
        "analysis",
        *within("app", "language server sources"),
        *within("collectors", "progress record"),
    ),
    "app.parts": (
        "analysis",
        *within("app", "fleet language recording server sources state store.records"),
    ),
    "app.recipes": (
        "analysis",
        *within("app", "parts recording sources state store.records"),
        "collectors.record",
    ),
    "app.views": (
        "analysis",
        *within("app", "language library parts recipes recording server sources state store"),
        "collectors.record",
    ),
    "app.agents": ("analysis", *within("app", "library sources store")),
    "app.cli": (
        "analysis",
        *within("app", "agents application fleet library recipes recording server sources store"),
        *within(
            "collectors",
            "bisect commands.private environments files.publication fuse optimise progress "
            "record record_command releases",
        ),
        "collectors.zoo.catalogue",
        "collectors.torch.names",
    ),
}
for _module in CORE:
    ALLOWED[_module] = CORE

ENGINES = ("onnx", "onnxruntime")
OUTSIDE = ("http.client", "http.server", "requests", "socket", "subprocess", "urllib.request")
IMPURE = (*OUTSIDE, "pickle", "psutil", *ENGINES)
FORBIDDEN = {
    "analysis": ("plotly", "streamlit", *IMPURE),
    "analysis.charts": ("streamlit", *IMPURE),
    "collectors": ("plotly", "streamlit"),
    "collectors.bisect": ("plotly", "streamlit", *ENGINES),
    "collectors.fuse": ("plotly", "streamlit", *ENGINES),
    "collectors.optimise": ("plotly", "streamlit", *ENGINES),
    "collectors.record": ("plotly", "streamlit", *ENGINES),
    "collectors.record_command": ("plotly", "streamlit", *ENGINES),
    "collectors.zoo.catalogue": ("plotly", "streamlit", *ENGINES),
    "app": ENGINES,
}

# Recording starts in the first of these modules, models are listed and exported by the second,
# fused by the third; importing them must load no engine, by whatever way.
ENGINE_FREE = (
    "collectors.bisect",
    "collectors.optimise",
    "collectors.record",
    "collectors.record_command",
    "collectors.zoo.catalogue",
    "collectors.fuse",
)

STATE = "app.state"
STATE_NAMES = ("query_params", "session_state")
UNSAFE_SINKS = ("html", "table")  # Streamlit calls that turn a trace's text into markup
UNSAFE_OPTIONS = ("unsafe_allow_html", "unsafe_allow_javascript")


@dataclass(frozen=True)
class Import:
    line: int
    target: str
    on_load: bool  # False inside a function and under TYPE_CHECKING


class ImportVisitor(ast.NodeVisitor):
    """Collects the imports of one module; names of our own modules are resolved in full."""

    def __init__(self, module: str, is_package: bool, own: dict[str, Path]) -> None:
        self.package = module if is_package else module.rpartition(".")[0]
        self.own = own
        self.imports: list[Import] = []
        self.depth = 0

    def add(self, line: int, target: str, *, is_relative: bool = False) -> None:
        """Without the prefix; a module of ours that is imported without it keeps a `.` instead."""
        is_bare = target.partition(".")[0] in PACKAGES and not is_relative
        name = f".{target}" if is_bare else target.removeprefix(PREFIX)
        self.imports.append(Import(line, name, on_load=self.depth == 0))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add(node.lineno, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        is_ours = bool(node.level) or f"{base}.".startswith(PREFIX)
        if node.level:
            parents = self.package.split(".")
            base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [base])])
        for alias in node.names:
            full = f"{base}.{alias.name}"
            is_module = full.removeprefix(PREFIX) in self.own
            target = base if is_ours and not is_module and base != "fusescope" else full
            self.add(node.lineno, target, is_relative=bool(node.level))

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        if name in ("__import__", "import_module") and node.args:
            match node.args[0]:
                case ast.Constant(value=str(target)):
                    self.add(node.lineno, target)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            self.indoors(node)
        else:
            self.generic_visit(node)

    def indoors(self, node: ast.AST) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = indoors


def lies_in(module: str, names: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


def row(module: str, table: dict[str, tuple[str, ...]]) -> str | None:
    """The longest key of `table` that is `module` or a package above it."""
    return max((key for key in table if lies_in(module, (key,))), key=len, default=None)


def import_violations(module: str, found: Import) -> Iterator[str]:
    top = found.target.partition(".")[0]
    if not top:
        yield f"{module} imports {found.target[1:]}, which is called {PREFIX}{found.target[1:]}"
    elif top in NOT_PRODUCT:
        yield f"{module} imports {found.target}, which is not part of the product"
    elif top in PACKAGES:
        key = row(module, ALLOWED)
        is_above = lies_in(module, (found.target,))  # loaded before the module is
        if key is not None and not is_above and not lies_in(found.target, (key, *ALLOWED[key])):
            yield f"{module} may not import {found.target}"
    else:
        key = row(module, FORBIDDEN)
        if key is not None and lies_in(found.target, FORBIDDEN[key]):
            yield f"{module} may not import {found.target}"


def streamlit_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Names bound to the streamlit module, and all names bound by imports."""
    streamlit, imported = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                imported.add(name)
                if isinstance(node, ast.Import) and alias.name == "streamlit":
                    streamlit.add(name)
    return streamlit, imported


def is_literal(call: ast.Call, tree: ast.Module) -> bool:
    """Whether all that a call shows is one constant of its module, which no trace can reach."""
    texts = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.isupper()
    }
    return len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id in texts


def call_violations(module: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Sinks that interpret text, archive extraction, and state outside its one home."""
    streamlit, imported = streamlit_names(tree)
    banned = UNSAFE_SINKS if lies_in(module, (STATE,)) else UNSAFE_SINKS + STATE_NAMES
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    literal = {option for call in calls if is_literal(call, tree) for option in call.keywords}
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg=str(name)) if name in UNSAFE_OPTIONS and node not in literal:
                yield node.value.lineno, f"{module} uses {name}"
            case ast.Attribute(attr="extractall"):
                yield node.lineno, f"{module} uses extractall: read archive members in memory"
            case ast.Attribute(value=ast.Name(id=base), attr=name) if base in streamlit:
                if name in UNSAFE_SINKS:
                    yield node.lineno, f"{module} uses st.{name}, which shows text as markup"
                elif name in STATE_NAMES and not lies_in(module, (STATE,)):
                    yield node.lineno, f"{module} uses st.{name}, which belongs in {STATE}"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=name)):
                if streamlit and name in UNSAFE_SINKS and base not in imported:
                    yield node.lineno, f"{module} uses {base}.{name}, which shows text as markup"
            case ast.ImportFrom(module="streamlit"):
                for alias in node.names:
                    if alias.name in banned:
                        yield node.lineno, f"{module} imports streamlit.{alias.name}"


def engine_violations(imports: dict[str, list[Import]]) -> Iterator[tuple[str, int, str]]:
    """(module, line, message) of every engine that loading ENGINE_FREE would load."""
    seen = {module: module for module in ENGINE_FREE}
    queue = list(ENGINE_FREE)
    while queue:
        module = queue.pop(0)
        for found in imports.get(module, []):
            if not found.on_load:
                continue
            if lies_in(found.target, ENGINES) and module not in ENGINE_FREE:
                yield module, found.line, f"{found.target} is loaded by {seen[module]}"
            parts = found.target.split(".")
            for length in range(1, len(parts) + 1):
                reached = ".".join(parts[:length])
                if reached in imports and reached not in seen:
                    seen[reached] = f"{seen[module]} -> {reached}"
                    queue.append(reached)


@lru_cache(maxsize=2000)
def parsed(source: bytes) -> ast.Module:
    return ast.parse(source)


def product_modules(root: Path) -> dict[str, Path]:
    """Module name -> file, of everything that is shipped."""
    modules = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def violations(root: Path) -> list[str]:
    """One line for each broken rule, `file:line: what`."""
    own = product_modules(root)
    imports: dict[str, list[Import]] = {}
    broken = []
    for module, path in own.items():
        tree = parsed(path.read_bytes())
        visitor = ImportVisitor(module, path.name == "__init__.py", own)
        visitor.visit(tree)
        imports[module] = visitor.imports
        broken += [
            (module, found.line, text)
            for found in visitor.imports
            for text in import_violations(module, found)
        ]
        broken += [(module, line, text) for line, text in call_violations(module, tree)]
    broken += engine_violations(imports)
    return [f"{own[module].relative_to(root)}:{line}: {text}" for module, line, text in broken]


def own_imports(root: Path) -> dict[str, set[str]]:
    """What each module imports of ours, whenever it does, and for types alone as well."""
    own = product_modules(root)
    found: dict[str, set[str]] = {}
    for module, path in own.items():
        visitor = ImportVisitor(module, path.name == "__init__.py", own)
        visitor.visit(parsed(path.read_bytes()))
        targets = {found.target for found in visitor.imports}
        found[module] = {target for target in targets if target in own} - {module}
    return found


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Every way that leads back to where it began, once; strongly connected components."""
    order: list[str] = []
    seen: set[str] = set()

    def reach(start: str, graph: dict[str, set[str]]) -> list[str]:
        """What is reached from `start` and was not seen, each after all that it leads to."""
        done: list[str] = []
        stack = [(start, iter(sorted(graph.get(start, ()))))]
        seen.add(start)
        while stack:
            name, rest = stack[-1]
            for other in rest:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(sorted(graph.get(other, ())))))
                    break
            else:
                stack.pop()
                done.append(name)
        return done

    for name in sorted(arrows):
        if name not in seen:
            order += reach(name, arrows)
    back: dict[str, set[str]] = {}
    for name, others in arrows.items():
        for other in others:
            back.setdefault(other, set()).add(name)
    seen.clear()
    found = [sorted(reach(name, back)) for name in reversed(order) if name not in seen]
    return [names for names in found if len(names) > 1]


def rooms(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same between folders: `collectors.files`; a module at a package's root is its own."""
    arrows: dict[str, set[str]] = {}
    for module, targets in imports.items():
        room = ".".join(module.split(".")[:2])
        others = {".".join(target.split(".")[:2]) for target in targets}
        arrows.setdefault(room, set()).update(others - {room, *PACKAGES})
    return arrows


def unused_rights(root: Path, table: dict[str, tuple[str, ...]]) -> list[str]:
    """Rights of the table that no import needs, and rows of no module."""
    imports = own_imports(root)
    unused = []
    shared: set[str] = set()
    rows: dict[str | None, list[str]] = {}
    for module in imports:
        rows.setdefault(row(module, table), []).append(module)
    for key, rights in table.items():
        targets = {target for module in rows.get(key, ()) for target in imports[module]}
        if key not in rows:
            unused.append(f"{key} is not a module")
        for right in rights:
            if any(lies_in(target, (right,)) for target in targets):
                shared.add(right)
            elif right not in CORE:
                unused.append(f"{key} does not import {right}")
    return unused + [f"nobody imports {name}" for name in CORE if name not in shared]


def test_nothing_leads_back() -> None:
    imports = own_imports(ROOT)
    assert len(imports) > 300
    assert circles(imports) == []
    assert circles(rooms(imports)) == []


def test_every_right_is_used() -> None:
    assert unused_rights(ROOT, ALLOWED) == []


def test_no_folder_is_crowded() -> None:
    """About 20 files of a subject; more are two subjects."""
    files = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    crowd = Counter(str(Path(name).parent) for name in files)
    assert crowd
    assert {folder: count for folder, count in crowd.items() if count > MAX_FILES} == {}


@pytest.mark.parametrize(
    ("arrows", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, [["a", "b"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}, [["b", "c"]]),
        (
            {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"e"}, "e": {"d"}},
            [["a", "b", "c"], ["d", "e"]],
        ),
    ],
)
def test_circles_are_found(arrows: dict[str, set[str]], expected: list[list[str]]) -> None:
    assert sorted(circles(arrows)) == expected


def test_a_right_that_nobody_uses_is_reported(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "app/__init__.py": "",
            "app/a.py": "from fusescope.collectors.b import x",
            "collectors/b.py": "",
            "collectors/c.py": "",
        },
    )
    table = {"app": ("collectors.b", "collectors.c"), "collectors.d": ()}
    assert unused_rights(tmp_path, table)[:2] == [
        "app does not import collectors.c",
        "collectors.d is not a module",
    ]


def test_the_product_keeps_the_rules() -> None:
    modules = product_modules(ROOT)
    for name in (*PACKAGES, *ENGINE_FREE, STATE):
        assert any(lies_in(module, (name,)) for module in modules), f"no {name}: mend the tables"
    assert violations(ROOT) == []


def write_tree(root: Path, files: dict[str, str]) -> None:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "analysis/metrics/a.py",
            "import fusescope.app.state",
            "1: analysis.metrics.a may not import app.state",
        ),
        (
            "analysis/trace.py",
            "\nfrom fusescope.analysis.readers import x",
            "2: analysis.trace may not import",
        ),
        ("analysis/readers/a.py", "from ..metrics.b import c", "may not import analysis.metrics"),
        (
            "analysis/readers/a.py",
            "from fusescope.analysis import compare",
            "may not import analysis.compare",
        ),
        (
            "analysis/wording.py",
            "import fusescope.analysis.report.x",
            "may not import analysis.report",
        ),
        ("analysis/compare/a.py", "import plotly.express", "may not import plotly.express"),
        ("analysis/a.py", "def f():\n  import onnx.helper", "2: analysis.a may not import onnx"),
        ("analysis/a.py", "from urllib import request", "may not import urllib.request"),
        ("analysis/a.py", "import importlib as i\ni.import_module('psutil')", "2: analysis.a may"),
        ("analysis/report/a.py", "import streamlit", "may not import streamlit"),
        (
            "collectors/blocks.py",
            "from fusescope.analysis.readers import x",
            "may not import analysis.readers",
        ),
        ("collectors/blocks.py", "import fusescope.app", "may not import app"),
        (
            "collectors/blocks.py",
            "from plotly import graph_objects",
            "may not import plotly",
        ),
        (
            "collectors/record.py",
            "def f():\n  import onnx",
            "2: collectors.record may not import onnx",
        ),
        (
            "app/views/a.py",
            "from fusescope.collectors.blocks import x",
            "may not import collectors.blocks",
        ),
        ("app/views/a.py", "import onnxruntime", "may not import onnxruntime"),
        ("app/a.py", "from tests.x import y", "app.a imports tests.x"),
        ("app/a.py", "import analysis.compare", "which is called fusescope.analysis.compare"),
        ("app/a.py", "def f():\n  from app import b", "2: app.a imports app.b, which is called"),
        ("analysis/a.py", "import importlib as i\ni.import_module('app')", "2: analysis.a imports"),
        ("analysis/a.py", "from fusescope import app", "1: analysis.a may not import app"),
        (
            "app/a.py",
            "import streamlit as st\nst.session_state['x'] = 1",
            "2: app.a uses st.session",
        ),
        ("app/a.py", "from streamlit import query_params", "app.a imports streamlit.query_params"),
        ("app/a.py", "import streamlit as st\nst.html('')", "2: app.a uses st.html"),
        (
            "app/a.py",
            "import streamlit as st\n[c] = st.columns(1)\nc.table(1)",
            "3: app.a uses c.tab",
        ),
        (
            "app/a.py",
            "import streamlit as st\nst.write(1, unsafe_allow_html=True)",
            "2: app.a uses u",
        ),
        (
            "app/a.py",
            "import streamlit as st\nX = f'{1}'\nst.write(X, unsafe_allow_html=True)",
            "3: app.a uses u",
        ),
        ("analysis/a.py", "def f(z):\n  z.extractall()", "2: analysis.a uses extractall"),
    ],
)
def test_a_broken_rule_is_reported(tmp_path: Path, path: str, source: str, expected: str) -> None:
    write_tree(tmp_path, {path: source, "analysis/compare/__init__.py": ""})
    [line] = violations(tmp_path)
    assert line.startswith(f"{path}:")
    assert expected in line


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("analysis/charts/a.py", "import plotly\nfrom fusescope.analysis import wording"),
        (
            "analysis/advice/a.py",
            "from fusescope.analysis.compare.ledger import x\nfrom . import b",
        ),
        ("collectors/blocks.py", "import onnxruntime\nfrom fusescope.analysis.graph import Graph"),
        ("app/state/a.py", "import streamlit as st\nst.session_state.x = st.query_params"),
        ("app/application.py", "def f(request):\n  return request.query_params"),
        ("app/a.py", "import streamlit as st\nX = 'x'\nst.write(X, unsafe_allow_html=True)"),
        (
            "app/a.py",
            "from fusescope.analysis.report import html\nimport streamlit as st\nhtml.table(1)",
        ),
        (
            "app/recording/a.py",
            "import fusescope.collectors.record\nfrom fusescope.collectors import progress",
        ),
    ],
)
def test_what_is_allowed_is_not_reported(tmp_path: Path, path: str, source: str) -> None:
    needed = ["analysis/charts/a.py", "analysis/wording.py", "collectors/progress.py"]
    write_tree(tmp_path, {path: source, **dict.fromkeys(needed, "")})
    assert violations(tmp_path) == []


def test_record_must_not_load_an_engine_through_others(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "collectors/__init__.py": "",
            "collectors/record.py": "from fusescope.collectors.blocks import run",
            "collectors/blocks.py": "from fusescope.collectors.runtimes.ort import session",
            "collectors/runtimes/__init__.py": "",
            "collectors/runtimes/ort.py": "import os\nimport onnxruntime",
            "collectors/zoo.py": "import onnx",  # not on the way
        },
    )
    [line] = violations(tmp_path)
    assert line == (
        "collectors/runtimes/ort.py:2: onnxruntime is loaded by collectors.record -> "
        "collectors.blocks -> collectors.runtimes.ort"
    )
    lazily = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import onnxruntime\n"
    lazily += "def session():\n  import onnxruntime"
    write_tree(tmp_path, {"collectors/runtimes/ort.py": lazily})
    assert violations(tmp_path) == []
