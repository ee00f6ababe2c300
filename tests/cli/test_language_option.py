"""The language of the command line: the option, the environment, the locale; help and errors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import language
from fusescope.analysis.recipes import RECIPES
from fusescope.app.cli.language import speak, taken
from fusescope.collectors import record
from fusescope.collectors.torch.names import BUILT_IN, PREFIX
from tests.brackets import names_in, outside, untold_words

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"


@pytest.mark.parametrize(
    ("arguments", "asked", "rest"),
    [
        (["--lang", "zh", "compare", "a"], "zh", ["compare", "a"]),
        (["compare", "a", "--lang", "zh"], "zh", ["compare", "a"]),
        (["compare", "--lang=zh", "a"], "zh", ["compare", "a"]),
        (["--lang", "en", "--lang", "zh", "zoo"], "zh", ["zoo"]),
        (["compare", "--", "--lang", "zh"], None, ["compare", "--", "--lang", "zh"]),
        ([], None, []),
    ],
)
def test_the_option_may_stand_anywhere(
    arguments: list[str], asked: str | None, rest: list[str]
) -> None:
    assert taken(arguments) == (asked, rest)


def test_an_option_without_a_value_names_the_languages(pseudo: Path) -> None:
    with pytest.raises(FuseScopeError, match="en, pseudo"):
        taken(["compare", "--lang"])


@pytest.mark.parametrize(
    ("asked", "environment", "code"),
    [
        ("pseudo", {"FUSESCOPE_LANG": "en", "LANG": "en"}, "pseudo"),
        (None, {"FUSESCOPE_LANG": "pseudo", "LC_ALL": "en"}, "pseudo"),
        (None, {"LC_ALL": "pseudo_XX.UTF-8", "LANG": "en_US.UTF-8"}, "pseudo"),
        (None, {"LC_ALL": "", "LC_MESSAGES": "C", "LANG": "pseudo"}, "en"),
        (None, {"LANG": "tlh"}, "en"),
        (None, {}, "en"),
    ],
)
def test_who_asks_first_is_heard(
    pseudo: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: str | None,
    environment: dict[str, str],
    code: str,
) -> None:
    monkeypatch.setattr(language, "_process", {"language": "en"})
    speak(asked, environment)
    assert language.current() == code


@pytest.mark.parametrize("environment", [{}, {"FUSESCOPE_LANG": "tlh"}])
def test_a_language_that_does_not_exist_names_those_that_do(
    pseudo: Path, environment: dict[str, str]
) -> None:
    with pytest.raises(FuseScopeError, match=r"'tlh'. It speaks: en, pseudo"):
        speak(None if environment else "tlh", environment)


def fusescope(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fusescope.app.cli.main", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "FUSESCOPE_LANGUAGES": str(folder),
             "COLUMNS": "200", **environment},
    )  # fmt: skip


# Each is told in one process: `main` once for each line of its input.
EACH = """
import shlex, sys
from fusescope.app.cli.main import main
for line in sys.stdin:
    sys.argv = ["fusescope", *shlex.split(line)]
    try:
        main()
    except SystemExit as ended:
        print(ended.code or "", end="")
    print("\\x1e", flush=True)
"""


def each(folder: Path, *lines: str, **environment: str) -> tuple[list[str], str]:
    """What each of these command lines prints, with its exit code behind it unless that is 0; and
    all that they print of errors."""
    done = subprocess.run(
        [sys.executable, "-c", EACH], input="\n".join(lines),
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "FUSESCOPE_LANGUAGES": str(folder),
             "COLUMNS": "2000", **environment},
    )  # fmt: skip
    answers = done.stdout.split("\x1e\n")[:-1]
    assert len(answers) == len(lines)
    return answers, done.stderr


def test_help_answers_and_errors_are_told_in_it_and_json_is_not(pseudo: Path) -> None:
    sample = "sample_traces/recipes/conv3x3.zip"
    assert (ROOT / sample).exists()
    answers, errors = each(
        pseudo,
        "--lang pseudo compare --help",
        f"--lang pseudo inspect {sample}",
        f"inspect {sample} --json --lang en",
        f"inspect {sample} --json --lang pseudo",
        "--lang pseudo inspect none.json",
    )
    helped, told, plain, same, nothing = answers
    assert "⟦Compare two traces, or two variants of an experiment.⟧" in helped
    assert "⟦Print JSON (docs/json.md).⟧" in helped
    assert "⟦Options⟧" in helped
    assert "⟦Experiment of " in told
    assert json.loads(same) == json.loads(plain)
    assert errors.startswith("fusescope: ⟦") and nothing.split() == ["2"]


def test_a_damaged_catalogue_is_said_once_and_english_is_spoken(tmp_path: Path) -> None:
    (tmp_path / "xx.mo").write_bytes(b"broken")
    done = fusescope(tmp_path, "--lang", "xx", "zoo")
    assert done.returncode == 0
    assert done.stderr.count("The catalogue of the language xx is damaged") == 1
    assert "Nodes" in done.stdout


MINIATURES = ("kineto", "tensorrt_profile", "ascend_op_summary")
COMMANDS = (
    "--help",
    *(f"{verb} --help" for verb in ("collect", "compare", "fuse", "inspect", "recipe", "serve")),
    "zoo",
    "recipe",
    "fuse conv_bn_relu --rules O3 --explain",
    "compare sample_traces/mobilenetv2.zip",
    "recipe --from sample_traces/recipes/depthwise.zip",
    *(f"inspect sample_traces/formats/{name}" for name in MINIATURES),
    "compare " + " ".join(f"sample_traces/formats/{name}" for name in MINIATURES[:2]),
    "inspect nowhere",
    "compare sample_traces/mobilenetv2.zip --candidate nobody",
    "zoo export nothing here.onnx",
)


def test_every_text_of_the_terminal_is_in_the_catalogue(pseudo: Path) -> None:
    answers, errors = each(pseudo, *COMMANDS, FUSESCOPE_LANG="pseudo")
    printed = ("".join(answers) + errors).splitlines()
    lines = [line for line in printed if "Usage:" not in line]
    assert len(lines) > 150
    # Of no catalogue: names of options, of what they take, of verbs, models and files, and what
    # the files hold.
    options = re.compile(r"--[a-z-]+|\b[A-Z]+\b")
    samples = [SAMPLES / f"{name}.zip" for name in ("mobilenetv2", "recipes/depthwise")]
    formats = [SAMPLES / "formats" / name for name in MINIATURES]
    within = [path for folder in formats for path in folder.iterdir()]
    held = [path.read_text(encoding="utf-8") for path in within if path.suffix in (".csv", ".json")]
    models = [
        *record.zoo_models(),
        PREFIX,
        *BUILT_IN,
        *(name for recipe in RECIPES for name in recipe.variants),
    ]
    names = "fusescope advise collect compare fleet fuse gate ingest inspect library recipe"
    names += " bisect runtimes scaling serve sql zoo"
    files = "export mul_add kernel_details path zip npz onnx here kineto tensorrt_profile candidate"
    known = " ".join(
        [names, files, *models, *held, names_in(*(path.read_bytes() for path in samples))]
    )
    found = untold_words((options.sub(" ", outside(line)) for line in lines), known)
    assert sorted(found) == []
