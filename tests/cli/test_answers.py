"""What is answered first, and what a verb says to what it does not take."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.fuse import _print_opportunities
from fusescope.app.cli.verbs import command_line
from fusescope.collectors.fuse import Opportunity
from tests.command_line import app
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

ROOT = Path(__file__).resolve().parents[2]
TIMES = {"unfused": [10.0, 10.1] * 4, "fused": [5.0, 5.1] * 4}
# producer_name, as most exporters write it; an opset before anything else; a graph
HEADS = [b"\x08\x08\x12\x07pytorch", b"\x08\x0aB\x04\n\x00\x10\x11", b"\x08\x07\x3a\x00"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "e.zip").write_bytes(experiment_zip(TIMES))
    (tmp_path / "before.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    (tmp_path / "after.json").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    return tmp_path


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_the_version_is_that_of_the_package() -> None:
    assert printed("--version") == f"fusescope {metadata.version('fusescope')}\n"


def test_a_limit_may_stand_behind_the_verb(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSESCOPE_LIMITS", "")
    files = ["before.json", "after.json"]
    for told in (
        ["compare", *files, "--limit", "events=3"],
        ["compare", "--limit", "events=3", *files],
        ["--limit", "events=3", "compare", *files],
        ["inspect", files[0], "--limit", "file_bytes=4GB", "--limit", "events=3"],
    ):
        monkeypatch.setenv("FUSESCOPE_LIMITS", "")
        result = CliRunner().invoke(app, told)
        assert isinstance(result.exception, FuseScopeError), told
        assert "limit of 3" in result.exception.text, told
    monkeypatch.setenv("FUSESCOPE_LIMITS", "")
    later = printed("--limit", "events=3", "compare", *files, "--limit", "events=4G", "--brief")
    assert "0.79× the time of" in later
    for verb in ("compare", "inspect", "recipe", "serve"):
        assert "--limit" in printed(verb, "-h")
    monkeypatch.setenv("FUSESCOPE_LIMITS", "")
    wrong = CliRunner().invoke(app, ["inspect", files[0], "--limit", "4GB"])
    assert isinstance(wrong.exception, FuseScopeError)
    assert wrong.exception.text.startswith("There is no limit '4GB'")


def test_what_is_no_verb_is_answered_with_all_verbs() -> None:
    """One verb alone is made where it stands first; help and mistakes still know them all."""
    every = {name: command.help for name, command in get_command(app).commands.items()}
    assert len(every) == 18
    for words in ([], ["-h"], ["-h", "compare"], ["nonsense"], ["--limit", "compare"]):
        made = get_command(command_line(words)).commands
        assert {name: command.help for name, command in made.items()} == every, words
    for words in (["zoo", "-h"], ["--limit", "events=3", "zoo"], ["--limit=events=3", "zoo"]):
        assert list(get_command(command_line(words)).commands) == ["zoo"], words


@pytest.mark.parametrize("verb", [[], ["compare"], ["zoo"], ["zoo", "export"]])
def test_h_is_help(verb: list[str]) -> None:
    assert printed(*verb, "-h") == printed(*verb, "--help")


def test_help_loads_nothing_heavy() -> None:
    """What it takes is what it imports: no figures are made, so nothing that makes them."""
    code = (
        "import sys\n"
        "from fusescope.app.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)\n"
        "print(sorted(name for name in sys.modules if name.count('.') == 1), file=sys.stderr)"
    )
    heavy = {"numpy", "pandas", "scipy", "pyarrow", "msgspec", "jinja2", "onnx", "onnxruntime"}
    heavy |= {
        "fusescope.collectors",
        "plotly",
        "streamlit",
        "starlette",
        "uvicorn",
        "psutil",
        "numba",
    }
    for arguments in (["--help"], ["compare", "-h"], ["collect", "-h"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        loaded = set(re.findall(r"'([\w.]+)'", done.stderr))
        assert "fusescope.app" in loaded and not heavy & loaded, arguments


def test_a_comparison_loads_what_it_needs(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of scipy, which takes as long as a comparison; readers of other formats, ranks and
    explanations from kernel to kernel not for a recording made here, nor sentences of errors that
    did not happen; no report, no page, no doctor and no other verb. Modules are out of the way of
    the search for garbage, which goes on; no idle thread spins."""
    code = (
        "import gc, os, sys\n"
        "from fusescope.app.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code\n"
        "assert gc.isenabled() and gc.get_freeze_count()\n"
        "assert os.environ['OPENBLAS_NUM_THREADS'] == '1'\n"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    unused = {"scipy", "jinja2", "fusescope.analysis.charts", "fusescope.analysis.report.html"}
    unused |= {"fusescope.collectors", "onnx", "onnxruntime", "plotly", "pydantic", "rich"}
    unused |= {"streamlit"}
    unused |= {
        f"fusescope.app.cli.{verb}"
        for verb in ("advise", "collect", "gating.gate", "inspect", "zoo")
    }
    unused |= {
        "fusescope.analysis.readers.unknown",
        "fusescope.analysis.doctor",
        "fusescope.analysis.advice.scorecard",
    }
    of_traces = {"fusescope.analysis.compare.explanation", "fusescope.analysis.ranks.pair"}
    of_kernels = {"fusescope.analysis.wording.explanation", "fusescope.analysis.advice.explanation"}
    of_kernels |= {"fusescope.analysis.work_units.repeated", "fusescope.analysis.host.idle"}
    tables = {
        "fusescope.analysis.readers.input.csv_table",
        "fusescope.analysis.readers.onnxruntime.columns",
    }
    tables |= {"fusescope.analysis.messages.errors"}  # the places of rows are among them
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    (here / "few.json").write_bytes(profile_json(FUSED_OPERATORS, runs=2))
    for files, is_recording in ((["e.zip"], True), (["before.json", "few.json"], False)):
        done = subprocess.run(
            [sys.executable, "-c", code, "compare", *files, "--json"],
            cwd=here, env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        loaded = set(re.findall(r"'([\w.]+)'", done.stderr))
        assert json.loads(done.stdout)["verdict"]
        assert not unused & loaded, files
        assert not (is_recording and (of_traces | of_kernels) & loaded), files
        assert is_recording or of_traces <= loaded, "what names them is gone"
        assert bool(tables & loaded) != is_recording, "what reads tables, for a trace"
        assert ("fusescope.analysis.readers.formats" in loaded) != is_recording, (
            "all formats, for a trace"
        )
        engines = {
            f"fusescope.analysis.readers.{name}"
            for name in ("mindspore", "openvino", "pytorch", "xla")
        }
        assert bool(engines & loaded) != is_recording, "those of other engines, for a trace"


def test_the_answer_stands_before_the_figures(here: Path) -> None:
    text = printed("compare", "before.json", "after.json")
    places = [
        text.index(part)
        for part in ("the time of", "Can I trust this? ", "doubt", "\nA: ", "\nlatency", "OP Type")
    ]
    assert places == sorted(places)


def test_as_many_doubts_are_listed_as_are_counted(here: Path) -> None:
    text = printed("compare", "before.json", "after.json")
    counted = int(re.search(r"Can I trust this\? (\d+) doubt", text)[1])  # type: ignore[index]
    assert "recording of one process" in text and "drift of the machine" in text
    assert counted == len(re.findall(r"^! ", text, re.MULTILINE))


def test_brief_is_the_answer_and_no_table(here: Path) -> None:
    whole, brief = printed("compare", "e.zip"), printed("compare", "e.zip", "--brief")
    assert whole.startswith(brief)
    assert "faster than" in brief and "Can I trust this? " in brief
    assert "OP Type" not in brief and "\nlatency" not in brief


def test_long_names_of_sides_are_letters_in_narrow_tables(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"segments:depthwise_conv": [10.0] * 8, "custom:depthwise_conv": [5.0] * 8}
    (here / "long.zip").write_bytes(experiment_zip(names))
    narrow = printed("compare", "long.zip")
    assert "\nA: segments:depthwise_conv\nB: custom:depthwise_conv\n" in narrow
    assert re.search(r"\n +A +B +change +basis", narrow)
    assert re.search(r"A time +B time +B - A *\nOP Type +A count +µs +B count +µs +µs", narrow)
    monkeypatch.setenv("COLUMNS", "160")
    wide = printed("compare", "long.zip")
    assert re.search(r"\n +segments:depthwise_conv +custom:depthwise_conv +change", wide)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("verb", [["inspect"], ["compare", "e.zip"]])
def test_a_model_is_answered_with_the_verbs_that_take_it(
    here: Path, head: bytes, verb: list[str]
) -> None:
    (here / "my model.bin").write_bytes(head + b"\x00" * 50)
    (here / "damaged.onnx").write_bytes(b"\xff" * 50)
    for name in ("my model.bin", "damaged.onnx"):
        result = CliRunner().invoke(app, [*verb, name])
        assert isinstance(result.exception, FuseScopeError), result.output
        assert result.exception.what == "This is a model, not a recording of one"
        shown = "'my model.bin'" if " " in name else name
        assert f"fusescope collect {shown}. " in result.exception.hint
        assert f"fusescope fuse {shown} --explain" in result.exception.hint


@pytest.mark.parametrize("data", [b"", b"\x08", b"\x08\x08\x00aaaa", b"\x0a\x08\x12\x00"])
def test_other_files_keep_their_own_sentence(here: Path, data: bytes) -> None:
    (here / "x.bin").write_bytes(data)
    result = CliRunner().invoke(app, ["inspect", "x.bin"])
    assert isinstance(result.exception, FuseScopeError)
    assert "model" not in result.exception.what


def test_a_trace_that_is_called_like_a_model_is_read(here: Path) -> None:
    (here / "before.json").rename(here / "before.onnx")
    assert "ONNX Runtime profile" in printed("inspect", "before.onnx")


def test_identical_places_are_one_line() -> None:
    def at(place: int, level: str) -> Opportunity:
        return Opportunity(
            pattern="Add + Relu",
            rewrites=(),
            operators=(f"add_{place}", f"relu_{place}"),
            op_types=("Add", "Relu"),
            scope="",
            outcome="no",
            bytes_removed=1_000_000,
            blocked_by="fusion_level",
            values={"level": level, "needs": "O3"},
        )

    rows = [*(at(place, "O1") for place in range(5)), at(5, "O2")]
    console = Console(width=160, file=io.StringIO())
    _print_opportunities(console, SimpleNamespace(opportunities=rows))  # type: ignore[arg-type]
    lines = [line for line in console.file.getvalue().splitlines() if "Add + Relu" in line]  # type: ignore[attr-defined]
    assert len(lines) == 2
    assert re.search(r"\b5 +add_0, relu_0; add_1, relu_1; add_2,", lines[0])
    assert "5.00 MB" in lines[0] and "1.00 MB" in lines[1]
