"""The project's frame: set-up, settings, and documents that must keep up with the code."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from fusescope.collectors.environments.catalogue import ENGINES
from tests.command_line import app

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCUMENTS = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
SETUP_FILES = (
    *("pyproject.toml", "requirements.txt", "requirements-dev.txt", "constraints.txt"),
    "scripts/setup.py",
)


# --- documents -----------------------------------------------------------------------------------


def test_every_make_target_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    seen: set[str] = set()
    for document in DOCUMENTS:
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", document.read_text(), re.MULTILINE))
        assert named <= targets, document.name
        seen |= named
    assert {"run", "test", "check", "bench"} <= seen


def test_every_link_in_the_documents_leads_somewhere() -> None:
    links = [
        (document.name, target)
        for document in DOCUMENTS
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
    ]
    assert links
    for document, target in links:
        assert (ROOT / target).exists(), f"{document} links to {target}"


def fusescope_help(*verb: str) -> str:
    wide = {"COLUMNS": "300", "TERMINAL_WIDTH": "300", "NO_COLOR": "1"}
    result = CliRunner().invoke(app, [*verb, "--help"], env=wide)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_page_of_commands_and_the_command_line_agree() -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z]+)[^`]*` \| (.*) \|$", page, re.MULTILINE))
    assert rows, "no table of verbs in docs/commands.md"
    listed = fusescope_help().partition("Commands")[2]
    verbs = set(re.findall(r"^\W*([a-z][a-z-]*)\s{2,}\S", listed, re.MULTILINE))
    assert verbs == set(rows)
    assert "--" in "".join(rows.values())
    for verb, text in rows.items():
        options = set(re.findall(r"--[a-z-]+", fusescope_help(verb))) - {"--help"}
        assert set(re.findall(r"`(--[a-z-]+)`", text)) <= options, verb


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == PYPROJECT["project"]["version"]


# --- nothing of the machine it was written on ----------------------------------------------------


# The tildes keep these words from finding themselves.
def _words(text: str) -> list[bytes]:
    return text.replace("~", "").encode().split()


PACKAGE_HOSTS = _words("p~ypi. python~hosted index-~url find-~links")
MACHINE_FOLDERS = _words("/r~oot/ /h~ome/ /U~sers/ /w~ork/ /w~orkspace/")
MACHINE_PATH = re.compile(rb"(?<![\w./])(?:%s)[\w.-]+" % b"|".join(MACHINE_FOLDERS))


def project_files() -> list[Path]:
    """What is committed or about to be; everything except caches where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
        names = [os.fsdecode(name) for name in listing.split(b"\0") if name]
        paths = [ROOT / name for name in names]
    except (OSError, subprocess.CalledProcessError):
        ignored = re.compile(
            r"/(\.venv|\.git|\.hypothesis|\w*_cache|\.\w+_cache|__pycache__|[^/]*\.egg-info)/"
        )
        paths = [path for path in ROOT.rglob("*") if not ignored.search(path.as_posix())]
    files = [path for path in paths if path.is_file()]
    assert len(files) > 500
    return files


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of a file, and of each member if it is a zip."""
    name = str(path.relative_to(ROOT))
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                yield f"{name}: {member.filename}", archive.read(member)
    else:
        yield name, path.read_bytes()


def test_no_file_names_a_path_of_this_machine_or_a_package_host() -> None:
    own_paths = [os.fsencode(path) for path in (ROOT, Path.home()) if len(path.parts) > 2]
    found = []
    for path in project_files():
        # Tests of what must not leak need paths to look for.
        in_tests = path.is_relative_to(ROOT / "tests")
        for name, content in contents(path):
            hits = [word for word in [*PACKAGE_HOSTS, *own_paths] if word in content]
            # To look for a word is fast, for a pattern it is not.
            if not in_tests and any(folder in content for folder in MACHINE_FOLDERS):
                hits += MACHINE_PATH.findall(content)
            found += [f"{name}: {os.fsdecode(hit)}" for hit in hits]
    assert found == []


# --- requirements --------------------------------------------------------------------------------


def requirement_lines(name: str) -> dict[str, str]:
    """Requirement -> its reason, for each line of a requirements file."""
    lines = (ROOT / name).read_text().splitlines()
    pairs = [line.partition("#") for line in lines if line and not line.startswith("#")]
    return {requirement.strip(): reason.strip() for requirement, _, reason in pairs}


OF_THE_PRODUCT = ["collect", "kernels", "tables", "cluster", "dashboard", "agents"]


@pytest.mark.parametrize(
    ("name", "extras"),
    [("requirements.txt", OF_THE_PRODUCT), ("requirements-dev.txt", ["dev"])],
)
def test_requirements_agree_with_pyproject(name: str, extras: list[str]) -> None:
    project = PYPROJECT["project"]
    declared = [line for extra in extras for line in project["optional-dependencies"][extra]]
    if "dev" not in extras:
        declared += project["dependencies"]
    lines = requirement_lines(name)
    assert sorted(lines) == sorted(declared)
    assert [line for line, reason in lines.items() if len(reason) < 10] == []


def test_constraints_pin_every_requirement() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    versions = {canonicalize_name(name): version for name, version in (p.split("==") for p in pins)}
    assert len(versions) == len(pins)
    required = [*requirement_lines("requirements.txt"), *requirement_lines("requirements-dev.txt")]
    for line in [*required, *PYPROJECT["build-system"]["requires"]]:
        requirement = Requirement(line)
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{line} is pinned at {version}"


def test_every_import_of_the_product_is_declared() -> None:
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"]]
    declared += [line for extra in OF_THE_PRODUCT for line in extras[extra]]
    known = {Requirement(line).name for line in declared} | set(sys.stdlib_module_names)
    known |= {"fusescope"}
    # Engines have an environment of their own, where only these run.
    engines = {engine.module for engine in ENGINES.values()}
    imports = 0
    for package in ("analysis", "app", "collectors", "fusescope"):
        for path in (ROOT / package).rglob("*.py"):
            runs_there = bool(engines & {path.parent.name, path.parent.parent.name})
            runs_there |= path.stem.split("_")[0] in engines
            for node in ast.walk(ast.parse(path.read_bytes())):
                match node:
                    case ast.Import(names=aliases):
                        modules = [alias.name for alias in aliases]
                    case ast.ImportFrom(module=str(module), level=0):
                        modules = [module]
                    case _:
                        continue
                imports += 1
                undeclared = {module.partition(".")[0] for module in modules} - known
                undeclared -= engines if runs_there else set()
                assert undeclared == set(), f"{path.relative_to(ROOT)}:{node.lineno}"
    assert imports > 1000


def test_every_data_file_of_the_packages_is_installed() -> None:
    """Of each package setuptools takes the patterns of "*" and its own, from its folder on."""
    data = PYPROJECT["tool"]["setuptools"]["package-data"]
    for package in ("analysis", "app", "collectors"):
        folders = {path.parent for path in (ROOT / package).rglob("__init__.py")}
        installed = {
            path
            for folder in folders
            for name in ("*", ".".join(("fusescope", *folder.relative_to(ROOT).parts)))
            for pattern in data.get(name, ())
            for path in folder.glob(pattern)
        }
        files = {path for path in project_files() if path.is_relative_to(ROOT / package)}
        assert {path for path in files if path.suffix != ".py"} - installed == set()
        assert {path.parent for path in files if path.suffix == ".py"} == folders


# --- set-up --------------------------------------------------------------------------------------

TOO_OLD = (
    "FuseScope needs Python 3.11 or newer, and {python} is Python 3.9: install a newer one, or "
    "name it with `make run PYTHON=/path/to/python3.12`.\n"
)
NO_VENV = (
    "Python's venv module is missing from {python}: run `apt install python3-venv` (for a second "
    "Python, its own: python{version}-venv), then the same command again.\n"
)


def test_the_setup_script_parses_under_an_old_python() -> None:
    source = (ROOT / "scripts" / "setup.py").read_text()
    ast.parse(source, feature_version=(3, 6))
    assert "from __future__" not in source  # annotations came with 3.7


LANGUAGES = Path("analysis", "messages", "languages")


@pytest.fixture
def project_copy(tmp_path: Path) -> Path:
    """The files that the set-up reads, in a folder of their own."""
    for name in SETUP_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / LANGUAGES).mkdir(parents=True)
    (tmp_path / LANGUAGES / "zh.po").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("disguise", "sentence"),
    [
        ("sys.version_info = (3, 9, 2, 'final', 0)", TOO_OLD),
        ("sys.modules['ensurepip'] = None", NO_VENV),
    ],
)
def test_setup_says_what_is_wrong_with_python(
    project_copy: Path, disguise: str, sentence: str
) -> None:
    script = project_copy / "scripts" / "setup.py"
    code = f"import runpy, sys; {disguise}; runpy.run_path({str(script)!r}, run_name='__main__')"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert result.stderr == sentence.format(python=sys.executable, version=version)
    assert not (project_copy / ".venv" / "bin").exists()


class Steps:
    """Stands in for the steps of a set-up: notes them, makes an empty venv, runs nothing."""

    DEVNULL = subprocess.DEVNULL

    def __init__(self, root: Path) -> None:
        self.bin = root / ".venv" / "bin"
        self.done: list[str] = []
        self.interrupted_at: str | None = None

    def step(self, name: str) -> None:
        self.done.append(name)
        if self.interrupted_at == name:
            raise KeyboardInterrupt

    def make_venv(self, folder: str) -> None:
        self.step("venv")
        shutil.rmtree(folder, ignore_errors=True)
        self.bin.mkdir(parents=True)
        (self.bin / "python").touch()

    def call(self, command: list[str], **options: Any) -> int:
        if "import sys, pip" in " ".join(command):
            return 0 if self.bin.exists() else 1
        if "compile" in command:
            self.step("translations")
            (self.bin.parents[1] / LANGUAGES / "zh.mo").touch()
        else:
            self.step("packages" if "-r" in command else "ourselves")
        return 0


AN_UPDATE = ["packages", "ourselves", "translations"]
EVERY_STEP = ["venv", *AN_UPDATE]


@pytest.fixture
def setup(project_copy: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The set-up script of the copy as a module, its steps noted and not done."""
    spec = importlib.util.spec_from_file_location("setup", project_copy / "scripts" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    steps = Steps(project_copy)
    monkeypatch.setattr(module, "subprocess", steps)
    monkeypatch.setattr(module, "make_venv", steps.make_venv)
    return SimpleNamespace(main=module.main, steps=steps, root=project_copy)


def test_setup_does_nothing_when_nothing_changed(setup: SimpleNamespace) -> None:
    assert setup.main(["dev"]) == 0
    assert setup.steps.done == EVERY_STEP
    assert setup.main(["dev"]) == 0
    assert setup.main(["run"]) == 0  # dev holds all that run needs
    assert setup.steps.done == EVERY_STEP


def test_setup_for_tests_follows_setup_for_running(setup: SimpleNamespace) -> None:
    assert setup.main(["run"]) == 0
    assert setup.main(["dev"]) == 0
    assert setup.steps.done == [*EVERY_STEP, *AN_UPDATE]


@pytest.mark.parametrize("name", SETUP_FILES[:4])
def test_setup_runs_again_when_a_file_changed(setup: SimpleNamespace, name: str) -> None:
    assert setup.main(["run"]) == 0
    with (setup.root / name).open("a") as file:
        file.write("\n")
    assert setup.main(["run"]) == 0
    assert setup.steps.done == [*EVERY_STEP, *AN_UPDATE]


def test_a_newer_translation_is_all_that_is_made_again(setup: SimpleNamespace) -> None:
    assert setup.main(["run"]) == 0
    made = (setup.root / LANGUAGES / "zh.mo").stat()
    os.utime(setup.root / LANGUAGES / "zh.po", (made.st_atime + 1, made.st_mtime + 1))
    assert setup.main(["run"]) == 0
    assert setup.steps.done == [*EVERY_STEP, "translations"]


def test_setup_moves_to_another_folder(setup: SimpleNamespace) -> None:
    assert setup.main(["run"]) == 0
    stamp = setup.root / ".venv" / "fusescope-ready"
    stamp.write_text(stamp.read_text().replace(str(setup.root), "/elsewhere"))
    assert setup.main(["run"]) == 0
    assert setup.steps.done == EVERY_STEP * 2


@pytest.mark.parametrize("step", EVERY_STEP)
def test_an_interrupted_setup_starts_over(setup: SimpleNamespace, step: str) -> None:
    setup.steps.interrupted_at = step
    assert setup.main(["run"]) == 130
    assert not (setup.root / ".venv" / "fusescope-ready").exists()
    setup.steps.interrupted_at = None
    setup.steps.done.clear()
    assert setup.main(["run"]) == 0
    assert setup.steps.done == EVERY_STEP


def test_an_interrupted_update_starts_over(setup: SimpleNamespace) -> None:
    assert setup.main(["run"]) == 0
    setup.steps.interrupted_at = "ourselves"
    assert setup.main(["dev"]) == 130
    setup.steps.interrupted_at = None
    setup.steps.done.clear()
    assert setup.main(["run"]) == 0
    assert setup.steps.done == EVERY_STEP


# --- settings ------------------------------------------------------------------------------------


def test_streamlit_accepts_every_setting() -> None:
    """An unknown or mistyped setting is only a line in the log, so look for it."""
    code = (
        "from streamlit import config as c\n"
        "for key, option in sorted(c.get_config_options(force_reparse=True).items()):\n"
        "    if 'config.toml' in option.where_defined: print(key, repr(option.value))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if "STREAMLIT" not in key},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    expected = {
        f"{section}.{name}"
        for section in ("server", "browser", "client")
        for name in settings[section]
    }
    accepted = dict(line.split(" ", 1) for line in result.stdout.splitlines())
    assert expected and expected <= set(accepted)
    assert {f"theme.{kind}.primaryColor" for kind in ("light", "dark")} <= set(accepted)
    # What protects the user: see the threat model before you change one of these.
    assert accepted["server.address"] == "'127.0.0.1'"
    assert accepted["server.headless"] == "True"
    assert accepted["server.enableXsrfProtection"] == "True"
    assert accepted["server.enableStaticServing"] == "False"
    assert accepted["browser.gatherUsageStats"] == "False"
    assert accepted["client.showErrorDetails"] == "'none'"


def run_pytest(folder: Path, files: dict[str, str], **environment: str) -> str:
    """The output of pytest in a small project that has our settings and these files."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, source in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    environment = {**os.environ, "COLUMNS": "200", **environment}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return result.stdout


def test_only_our_own_warnings_are_errors(tmp_path: Path) -> None:
    noisy = "import warnings\ndef call(kind=UserWarning):\n    warnings.warn('careful', kind)\n"
    checks = """
        import pytest, fusescope.deep.noisy, fusescope_like
        @pytest.mark.parametrize("module", [fusescope, fusescope.deep.noisy])
        def test_ours(module):
            with pytest.raises(UserWarning): module.call()
            with pytest.raises(DeprecationWarning): module.call(DeprecationWarning)
        def test_theirs(): fusescope_like.call()
    """
    files = dict.fromkeys(
        ["fusescope/deep/noisy.py", "fusescope/__init__.py", "fusescope_like.py"], noisy
    )
    output = run_pytest(tmp_path, {**files, "tests/test_noise.py": textwrap.dedent(checks)})
    assert "3 passed, 1 warning" in output, output


def test_a_test_without_a_case_is_an_error(tmp_path: Path) -> None:
    empty = "import pytest\n@pytest.mark.parametrize('a', [])\ndef test_a(a): pass\n"
    output = run_pytest(tmp_path, {"tests/test_a.py": empty})
    assert "Empty parameter set in 'test_a'" in output and "1 error" in output, output


def test_a_skipped_browser_test_fails_where_browsers_are_required(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": (ROOT / "tests" / "conftest.py").read_text(),
        "tests/test_a.py": (
            "import pytest\n"
            "@pytest.mark.browser\ndef test_b(): pytest.skip('no Chromium')\n"
            "def test_c(): pytest.skip('something else')\n"
        ),
        "tests/browser/test_d.py": "import pytest\npytest.importorskip('no_such_module')\n",
    }
    assert "3 skipped" in run_pytest(tmp_path, files, FUSESCOPE_REQUIRE_BROWSER="")
    output = run_pytest(tmp_path, files, FUSESCOPE_REQUIRE_BROWSER="1")
    assert "a browser test was skipped where all must run" in output
    assert "1 error" in output, output


def test_an_exhaustive_test_runs_only_where_it_is_asked_for(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": (ROOT / "tests" / "conftest.py").read_text(),
        "tests/test_a.py": (
            "import pytest\n"
            "@pytest.mark.browser\n"
            "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.exhaustive)])\n"
            "def test_b(n): pytest.skip('no Chromium')\n"
            "def test_c(): pass\n"
        ),
    }
    usual = run_pytest(tmp_path, files, FUSESCOPE_REQUIRE_BROWSER="1", PYTEST_ADDOPTS="-v")
    assert "test_b[1] FAILED" in usual and "test_c PASSED" in usual, usual
    assert "1 failed, 1 passed, 1 deselected" in usual, usual
    rest = run_pytest(
        tmp_path, files, FUSESCOPE_REQUIRE_BROWSER="1", PYTEST_ADDOPTS="-v --exhaustive"
    )
    assert "test_b[2] FAILED" in rest and "1 failed, 2 deselected" in rest, rest
    by_mark = run_pytest(tmp_path, files, PYTEST_ADDOPTS="-v -m browser")
    assert "test_b[1]" in by_mark and "test_b[2]" not in by_mark, by_mark


def test_golden_files_are_compared_and_updated(tmp_path: Path) -> None:
    files = {"tests/conftest.py": (ROOT / "tests" / "conftest.py").read_text()}
    update = {**files, "tests/test_a.py": "def test_a(golden): golden('deep/a.json', VALUE)\n"}
    update["tests/test_a.py"] += "VALUE = {'b': [1.23456789, 10**20], 'a': None}\n"
    assert "1 passed" in run_pytest(tmp_path, update, PYTEST_ADDOPTS="--update-golden")
    written = (tmp_path / "tests" / "golden" / "deep" / "a.json").read_text()
    assert written == '{\n "a": null,\n "b": [\n  1.23457,\n  100000000000000000000\n ]\n}\n'
    compare = """
        import numpy as np
        def test_same(golden):
            golden("deep/a.json", {"a": None, "b": (np.float64(1.234570001), 10**20)})
        def test_differs(golden): golden("deep/a.json", {"a": None, "b": [1.2346, 10**20]})
        def test_missing(golden): golden("deep/b.json", 1)
        def test_nan(golden): golden("deep/a.json", float("nan"))
    """
    output = run_pytest(tmp_path, {"tests/test_a.py": textwrap.dedent(compare)})
    assert "3 failed, 1 passed" in output, output
    assert "differs from tests/golden/deep/a.json" in output
    assert "no tests/golden/deep/b.json: make it with" in output


def test_the_ci_script_can_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)


def ci_run(folder: Path, failing: str) -> tuple[int, list[str]]:
    """How .ci/run ends where the make target `failing` fails, and what it asked of make."""
    log = folder / "calls"
    log.unlink(missing_ok=True)
    make = folder / "make"
    make.write_text(
        "#!/bin/sh\n"
        f'echo "browser=$FUSESCOPE_REQUIRE_BROWSER $*" >>"{log}"\n'
        f'[ "$1" != "{failing}" ]\n'
    )
    make.chmod(0o755)
    path = os.pathsep.join((str(folder), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "FUSESCOPE_CHROMIUM": "/bin/true"}
    environment.pop("FUSESCOPE_REQUIRE_BROWSER", None)
    ended = subprocess.run([ROOT / ".ci" / "run"], env=environment, check=False)
    return ended.returncode, log.read_text().splitlines()


def test_the_ci_script_runs_both_parts_of_the_tests_and_fails_with_either(tmp_path: Path) -> None:
    usual = "browser=1 test ARGS=--durations=40"
    part = int(date.today().strftime("%j")) % 4 + 1
    rest = f"browser=1 test-exhaustive ARGS=--durations=40 --part={part}/4"
    engine = "browser=1 test-openvino ARGS=--durations=10"
    wheel = "browser=1 test-wheel ARGS=--durations=10"
    others = [engine, wheel, "browser=1 docs", "browser=1 lint"]
    assert ci_run(tmp_path, "") == (0, [usual, rest, *others])
    assert ci_run(tmp_path, "test") == (1, [usual])
    assert ci_run(tmp_path, "test-exhaustive") == (1, [usual, rest])
    assert ci_run(tmp_path, "test-openvino") == (1, [usual, rest, engine])
    assert ci_run(tmp_path, "test-wheel") == (1, [usual, rest, engine, wheel])
    assert ci_run(tmp_path, "docs")[0] == ci_run(tmp_path, "lint")[0] == 1


def test_the_parts_are_all_tests_and_each_is_in_one(tmp_path: Path) -> None:
    files = {f"tests/app/test_{name}.py": "def test_it(): pass\n" for name in "abcde"}
    files["tests/conftest.py"] = (ROOT / "tests" / "conftest.py").read_text()
    ran = []
    for part in ("1/2", "2/2"):
        output = run_pytest(tmp_path, files, PYTEST_ADDOPTS=f"-v --part={part}")
        ran.append(re.findall(r"test_(\w)\.py::test_it PASSED", output))
    assert ran == [["a", "c", "e"], ["b", "d"]]


def test_slow_files_start_first(tmp_path: Path) -> None:
    files = {
        f"tests/{folder}/test_{name}.py": "def test_it(): pass\ndef test_again(): pass\n"
        for folder, name in (("advice", "a"), ("app", "b"), ("browser", "c"), ("collectors/x", "d"))
    }
    files["tests/conftest.py"] = (ROOT / "tests" / "conftest.py").read_text()
    output = run_pytest(tmp_path, files, PYTEST_ADDOPTS="-v")
    ran = re.findall(r"test_(\w)\.py::(test_\w+) PASSED", output)
    assert ran == [(name, test) for name in "cdba" for test in ("test_it", "test_again")], output


def test_make_runs_each_part_of_the_tests_with_the_arguments_it_is_given() -> None:
    for target, exhaustive in (("test", False), ("test-exhaustive", True)):
        command = ["make", "--dry-run", "--always-make", target, "ARGS=-k ledger"]
        printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        [line] = [line for line in printed.stdout.splitlines() if "-m pytest" in line]
        assert ("--exhaustive" in line.split(), line.endswith(" -k ledger")) == (exhaustive, True)
        assert "--no-loadscope-reorder" in line.split()  # else files of few tests come last


def test_no_two_test_files_share_a_name() -> None:
    """Pytest imports them by name: the second of two could not be collected."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert Path(__file__).name in names
    assert sorted({name for name in names if names.count(name) > 1}) == []
