"""The wheel as users have it: built from what is committed, installed with each extra into an
environment of its own, and used in a folder whose own packages are called as ours are."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from playwright.sync_api import expect, sync_playwright

from tests.browser.serving import SERVES_AT, free_port, started
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json
from tests.patience import GIVE_UP_S
from tests.test_project import OF_THE_PRODUCT, ROOT

OWN_FOLDERS = ("FUSESCOPE_LIBRARY", "IPYTHONDIR", "PIPX_HOME", "UV_CACHE_DIR")
PAIR = ("eager.json.gz", "compiled.json.gz")
DECOYS = ("analysis", "app", "collectors")
MAX_BYTES = 20_000_000  # most of it are the samples
Install = Callable[[str], Path]


def run(*command: str | Path, cwd: Path, succeeds: bool = True) -> str:
    """What it printed, errors last. No variable leads it to the clone."""
    kept = {name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={
            **kept,
            **{name: str(cwd / name.lower()) for name in OWN_FOLDERS},
            "COLUMNS": "200",
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    printed = done.stdout + done.stderr
    assert (done.returncode == 0) == succeeds, printed
    return printed


def build(what: str, source: Path, into: Path) -> Path:
    """The wheel or sdist that setuptools makes of a folder, without a network."""
    code = f"import sys; from setuptools import build_meta as b; b.build_{what}(sys.argv[1])"
    into.mkdir()
    run(sys.executable, "-c", code, into, cwd=source)
    [made] = into.iterdir()
    return made


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is committed or about to be, with its links: nothing that an earlier build left."""
    folder = tmp_path_factory.mktemp("source")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.split(b"\0")):
        path = folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / os.fsdecode(name), path, follow_symlinks=False)
    return folder


@pytest.fixture(scope="session")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", source, tmp_path_factory.mktemp("wheel") / "dist")


@pytest.fixture(scope="module")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Install]:
    """Makes a fresh environment with the wheel and these extras; returns its bin/."""

    def made(extras: str) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        run(sys.executable, "-m", "venv", folder, cwd=folder)
        pip = (folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install")
        wanted = f"{wheel}[{extras}]" if extras else str(wheel)
        run(*pip, "--quiet", "--constraint", ROOT / "constraints.txt", wanted, cwd=folder)
        return folder / "bin"

    yield made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of somebody's project: packages that are called as ours are, and two traces."""
    for name in DECOYS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise RuntimeError('{name} of the folder')")
    (tmp_path / "before.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    (tmp_path / "after.json").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    return tmp_path


def contents(archive: Path) -> dict[str, int]:
    """Names and checksums of the members, but for the list of them."""
    with zipfile.ZipFile(archive) as file:
        return {
            member.filename: member.CRC
            for member in file.infolist()
            if not member.filename.endswith("/RECORD")
        }


def test_it_holds_one_package_and_the_translations(wheel: Path) -> None:
    names = contents(wheel)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"fusescope"}
    languages = "fusescope/analysis/messages/languages"
    assert f"{languages}/zh.mo" in names
    assert {"fusescope/py.typed", "fusescope/docs/glossary.md"} <= {*names}
    assert not [name for name in names if "sample_traces" in name and name.endswith(".py")]
    assert wheel.stat().st_size < MAX_BYTES


def test_a_file_that_was_removed_is_in_no_later_wheel(source: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(source, tmp_path / "source", symlinks=True)
    extra = folder / "analysis" / "gone.py"
    extra.write_text("")
    first = build("wheel", folder, tmp_path / "first")
    extra.unlink()
    second = build("wheel", folder, tmp_path / "second")
    assert contents(first).keys() - contents(second).keys() == {"fusescope/analysis/gone.py"}


def test_the_sdist_makes_the_same_wheel(source: Path, wheel: Path, tmp_path: Path) -> None:
    sdist = build("sdist", source, tmp_path / "sdist")
    shutil.unpack_archive(sdist, tmp_path / "unpacked", filter="data")
    [folder] = (tmp_path / "unpacked").iterdir()
    again = build("wheel", folder, tmp_path / "again")
    assert contents(again) == contents(wheel)


def test_without_an_extra_it_compares(install: Install, place: Path) -> None:
    programs = install("")
    fusescope = programs / "fusescope"
    listed = run(fusescope, "--help", cwd=place).partition("Commands")[2]
    verbs = re.findall(r"^\W*([a-z][a-z-]*)\s{2,}\S", listed, re.MULTILINE)
    assert {"compare", "collect", "serve", "sql"} <= {*verbs}
    for verb in verbs:
        assert "Usage" in run(fusescope, verb, "--help", cwd=place)
    answer = json.loads(run(fusescope, "compare", "before.json", "after.json", "--json", cwd=place))
    assert answer["verdict"]
    module = (programs / "python", "-m", "fusescope")
    assert run(*module, "--version", cwd=place) == run(fusescope, "--version", cwd=place)
    pair = ("before.json", "after.json")
    assert "的耗时是" in run(*module, "--lang", "zh", "compare", *pair, cwd=place)
    script = (
        "import fusescope; print(fusescope.__file__);"
        "print(fusescope.compare('before.json', 'after.json').text)"
    )
    printed = run(programs / "python", "-c", script, cwd=place)
    assert "site-packages" in printed and "after.json took" in printed
    lacking = {"serve": "dashboard", "collect mul_add": "collect", "sql 1": "tables"}
    lacking["mcp"] = "agents"
    for typed, extra in lacking.items():
        said = run(fusescope, *typed.split(), cwd=place, succeeds=False)
        assert f"fusescope[{extra}]" in said


def test_with_collect_and_kernels_it_records(install: Install, place: Path) -> None:
    fusescope = install("collect,kernels") / "fusescope"
    variants = ("--variants", "unfused,custom:mul_add", "--blocks", "2", "--rounds", "2")
    run(fusescope, "collect", "mul_add", *variants, "--out", "m.zip", cwd=place)
    assert "custom:mul_add" in run(
        fusescope, "compare", "m.zip", "--candidate", "custom:mul_add", cwd=place
    )


def test_with_tables_and_cluster_it_answers_questions(install: Install, place: Path) -> None:
    fusescope = install("tables,cluster") / "fusescope"
    run(fusescope, "library", "add", "before.json", cwd=place)
    counted = run(fusescope, "sql", "select count(*) from runs", "--json", cwd=place)
    assert json.loads(counted)["rows"] == [[6]]
    for rank in range(3):
        shutil.copy(place / "before.json", place / f"rank{rank}.json")
    ranks = ("rank0.json", "rank1.json", "rank2.json")
    run(fusescope, "ingest", *ranks, "--to", "store", "--processes", "2", cwd=place)
    run(fusescope, "compare", "before.json", "after.json", "--parquet", "tables", cwd=place)
    assert list((place / "tables").glob("*.parquet"))


def test_with_the_dashboard_it_serves_samples_in_both_languages(
    install: Install, place: Path
) -> None:
    fusescope = install("dashboard") / "fusescope"
    serve = [str(fusescope), "serve", "--no-browser", f"--port={free_port()}"]
    with started(serve, place, place) as server, sync_playwright() as playwright:
        url = server.wait_for(SERVES_AT)
        path = os.environ.get("FUSESCOPE_CHROMIUM") or shutil.which("chromium")
        if path is None:
            pytest.skip("needs Chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(GIVE_UP_S * 1000)
        page.goto(f"{url}/compare?lang=en")
        expect(page.get_by_role("heading", level=2).first).to_contain_text(
            "faster", timeout=GIVE_UP_S * 1000
        )
        page.get_by_role("button", name="Glossary").click()
        expect(page.get_by_role("dialog")).to_contain_text("Glossary", timeout=GIVE_UP_S * 1000)
        page.goto(f"{url}/compare?lang=zh")
        expect(page.get_by_role("heading", level=2).first).to_contain_text(
            "加速比", timeout=GIVE_UP_S * 1000
        )
        browser.close()


def test_with_agents_it_answers_a_client(install: Install, place: Path) -> None:
    server = StdioServerParameters(
        command=str(install("agents") / "fusescope"), args=["mcp"], cwd=place
    )

    async def conversation() -> str:
        async with Client(stdio_client(server)) as client:
            answer = await client.call_tool("inspect", {"path": "before.json"})
            return answer.content[0].text

    assert json.loads(asyncio.run(conversation()))["data"]


def test_a_notebook_runs_where_it_is_installed(install: Install, place: Path) -> None:
    """examples/traces.ipynb beside two traces, by nbclient and a kernel of that environment."""
    programs = install("")
    pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--constraint", ROOT / "constraints.txt", "nbclient", "ipykernel", cwd=place)
    traces = place / "sample_traces" / "torch_compile"
    traces.mkdir(parents=True)
    for name in PAIR:
        shutil.copy(ROOT / traces.relative_to(place) / name, traces)
    shutil.copy(ROOT / "examples" / "traces.ipynb", place)
    script = (
        "import nbformat, nbclient; notebook = nbformat.read('traces.ipynb', 4);"
        "nbclient.NotebookClient(notebook, kernel_name='python3').execute();"
        "nbformat.write(notebook, 'ran.ipynb')"
    )
    run(programs / "python", "-c", script, cwd=place)
    cells = json.loads((place / "ran.ipynb").read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output["output_type"] == "error"]
    shown = "".join("".join(output["data"].get("text/html", ())) for output in outputs
                    if "data" in output)  # fmt: skip
    assert "took 0.73× the time of" in shown and "<td>low</td>" in shown


@pytest.mark.parametrize("tool", ["pipx", "uvx"])
def test_it_runs_without_being_installed(tool: str, wheel: Path, place: Path) -> None:
    run(sys.executable, "-m", "venv", place / "tools", cwd=place)
    package = {"pipx": "pipx", "uvx": "uv"}[tool]
    programs = place / "tools" / "bin"
    run(programs / "python", "-m", "pip", "install", "--quiet", package, cwd=place)
    option = {"pipx": ("run", "--spec"), "uvx": ("--from",)}[tool]
    words = (programs / tool, *option, wheel, "fusescope", "compare", "before.json", "after.json")
    assert "after.json took" in run(*words, cwd=place)


def test_the_action_installs_itself_and_judges(source: Path, place: Path) -> None:
    """The scripts of the first two steps, as a runner runs them, in a clone."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    eager, compiled = (str(ROOT / "sample_traces" / "torch_compile" / name) for name in PAIR)
    given = {"FILE": compiled, "AGAINST": eager, "BASE": "", "HEAD": "",
             "FAIL_IF": "explanation.slower 5%", "ARGUMENTS": ""}  # fmt: skip
    variables = {
        **{name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")},
        **given,
        "PYTHON": sys.executable,
        "RUNNER_TEMP": str(place),
        "GITHUB_ACTION_PATH": str(source),
        "GITHUB_OUTPUT": str(place / "outputs"),
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
    }
    codes = [
        subprocess.run(["bash", "-e", "-c", step["run"]], cwd=place, env=variables, check=False)
        for step in steps[:2]
    ]
    assert [done.returncode for done in codes] == [0, 1]
    assert "outcome=failed" in (place / "outputs").read_text()
    assert "The gate failed" in (place / "summary.md").read_text()


def test_every_extra_is_tried() -> None:
    tried = re.findall(r'install\("([a-z,]+)"\)', Path(__file__).read_text(encoding="utf-8"))
    assert sorted(",".join(tried).split(",")) == sorted(OF_THE_PRODUCT)
