"""Everything of ours is imported below `fusescope`: `analysis`, `app` and `collectors` alone are
names that other projects have, too."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fusescope
from tests.test_project import PYPROJECT, project_files

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("analysis", "app", "collectors")
NAMES = "|".join(PACKAGES)
# In texts: lines of programs, what `-m` starts, and what is replaced in tests.
IN_TEXT = re.compile(
    rf"^\s*(?:from ({NAMES})(?:\.[\w.]+)? import |import ({NAMES})(?:\.[\w.]+)?(?: as \w+)?\s*$)"
    rf"|-m ({NAMES})\.\w",
    re.MULTILINE,
)


def bare_imports(source: str) -> list[int]:
    """Lines that import a package of ours without `fusescope.`, also in programs that are texts."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        match node:
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                names = [module]
            case ast.Constant(value=str(text)) if IN_TEXT.search(text):
                names = list(PACKAGES)
        if any(name.partition(".")[0] in PACKAGES for name in names):
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import fusescope.analysis\nfrom fusescope import app", []),
        ("import analysis", [1]),
        ("def f():\n  from collectors.record import record", [2]),
        ("import os, app.cli as cli", [1]),
        ("from . import app\nfrom .analysis import b", []),
        ("PROGRAM = 'import sys\\nfrom app.cli.main import main'", [1]),
        ("run('python -m collectors.workers.worker')", [1]),
        ("text = 'may not import analysis from here'", []),
    ],
)
def test_bare_imports_are_found(source: str, lines: list[int]) -> None:
    assert bare_imports(source) == lines


def test_nothing_is_imported_without_the_name_of_the_package() -> None:
    here = Path(__file__)
    sources = [path for path in project_files() if path.suffix == ".py"]
    # The table of permitted imports has such lines as examples of what is refused.
    examples = (here, here.with_name("test_dependency_rule.py"))
    assert len(sources) > 1500
    found = {
        str(path.relative_to(ROOT)): lines
        for path in sources
        if path not in examples and (lines := bare_imports(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_documents_import_and_start_nothing_by_another_name() -> None:
    pages = [path for path in project_files() if path.suffix == ".md"]
    assert len(pages) > 50
    assert [path.name for path in pages if IN_TEXT.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_alone_says_what_to_import(package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {package}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = f"Import fusescope.{package}: FuseScope has no package named {package} alone."
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"ImportError: {said}"


def test_the_links_lead_to_the_folders_beside() -> None:
    """Relative, so that a clone can lie anywhere; what goes along as data is a link as well."""
    links = {
        path.name: os.readlink(path) for path in (ROOT / "fusescope").iterdir() if path.is_symlink()
    }
    assert links == {name: f"../{name}" for name in (*PACKAGES, "docs", "sample_traces")}


def test_the_package_loads_nothing_until_it_is_asked() -> None:
    code = (
        "import sys; before = {*sys.modules}; import fusescope, fusescope.analysis;"
        "new = {*sys.modules} - before; standard = {*sys.stdlib_module_names};"
        "print(*sorted(name for name in new if name.partition('.')[0] not in standard))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["fusescope", "fusescope.analysis"]


def test_the_version_is_that_of_the_project() -> None:
    assert fusescope.__version__ == PYPROJECT["project"]["version"]
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        fusescope.missing  # noqa: B018 - to ask is the test
