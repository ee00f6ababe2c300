"""Values of secrets and folders: in no text that others may see."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.commands.private import Secrets, is_secret
from fusescope.collectors.progress import Progress, encode
from fusescope.collectors.record_command import CommandRecording
from tests.own_commands import SCRIPT, recorded, script_in


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/opt/venv/bin/python /home/ann/bench.py --out=/tmp/ann/x", "python bench.py --out=x"),
        ("vllm serve meta/llama --api-key s3cret", "vllm serve meta/llama --api-key '…'"),
        ("python ~/b.py ../c.py ./d.py", "python b.py c.py d.py"),
        ("python 'open", "…"),
        ("serve --token abc --max-tokens 128", "serve --token '…' --max-tokens 128"),
        ("docker run -e HF_TOKEN=abc img -ePASS=abc", "docker run -e 'HF_TOKEN=…' img '-ePASS=…'"),
        ("sh -c 'export apiKey=abc; run'", "sh -c 'export apiKey=…; run'"),
        (
            "curl -H 'Authorization: Bearer abcdefgh' https://ann:pw@host/x?token=abc&b=1",
            "curl -H 'Authorization: Bearer …' 'https://…@host/x?token=…&b=1'",
        ),
        ("""run '{"api_key": "abc", "a": 1}'""", """run '{"api_key": "…", "a": 1}'"""),
        (
            "run --tokenizer abc --use-token --model abc",
            "run --tokenizer abc --use-token --model abc",
        ),
    ],
)
def test_a_command_line_has_neither_folders_nor_secrets(text: str, kept: str) -> None:
    assert Secrets().line(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("HF_TOKEN=abc,def", "HF_TOKEN=…"),
        ("CACHE=/home/ann/a,/home/ann/b", "CACHE=a,b"),
        ("RATE=3/4", "RATE=3/4"),
        ("--api-key=abc,def", "--api-key=…"),
        ("--token abc,def", "--token …,…"),
        ("--token abc,--token def", "--token …,--token …"),
        ("--token abc,--other def", "--token …,--other def"),
        ("ARGS=--token abc", "ARGS=--token …"),
        ("--header X-Api-Key: abc,", "--header X-Api-Key: …,"),
        ("--max-num-batched-tokens=2048,8192", "--max-num-batched-tokens=2048,8192"),
        ("HF_HUB_DISABLE_IMPLICIT_TOKEN=0,1", "HF_HUB_DISABLE_IMPLICIT_TOKEN=0,1"),
    ],
)
def test_a_setting_has_neither(text: str, kept: str) -> None:
    assert Secrets().setting(text) == kept


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "--token", "apiKey", "AWS_SECRET_ACCESS_KEY", "--key", "OPENAI_KEY", "db.password"]
    + ["MYSQL_PWD", "authtoken"],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name, "abc")


@pytest.mark.parametrize("name", ["--tokenizer", "KEYBOARD", "--monkey", "--compass", "AUTHOR"])
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret(name, "abc")


def test_what_was_seen_once_is_hidden_everywhere() -> None:
    secrets = Secrets()
    secrets.setting("--token k3y,longersecret")
    secrets.learn({"HF_TOKEN": "of-the-environment", "HOME": "/home/ann", "X_KEY": "short"})
    printed = "a k3y, notak3y, xlongersecretx of-the-environment short; Missing key: foo; token: 7z"
    assert secrets.hidden(printed) == ("a …, notak3y, x…x … short; Missing key: foo; token: …")


SECRETS = ("tok-1-value", "tok-2-value", "key-value", "pass-value", "arg-value", "env-value")


def test_no_secret_reaches_the_file_or_the_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the command, in every kind of setting, in the environment, in the text of --time."""
    monkeypatch.setenv("OTHER_SECRET", "env-value")
    seen: list[Progress] = []
    script = script_in(tmp_path / "own", SCRIPT)
    path = recorded(
        CommandRecording(
            command=f'{script} --password pass-value -x \'{{"api_key": "key-value"}}\'',
            environment=("FAST=0,1", "HF_TOKEN=tok-1-value,tok-2-value"),
            arguments=("--token arg-value",),
            profile_environment=("PROFILE_KEY=key-value",),
            profile_arguments="--token arg-value",
            time="step: {value} ms",
            blocks=1,
            out=tmp_path / "made.zip",
            typed="fusescope collect --names pass-value --arg=--token=arg-value",
        ),
        on_progress=seen.append,
    )
    with zipfile.ZipFile(path) as opened:
        texts = [opened.read(name).decode() for name in opened.namelist()] + opened.namelist()
    texts += [encode(one) for one in seen]
    assert any("HF_TOKEN #2" in text for text in texts) and any("…" in text for text in texts)
    assert not [(text[:80], one) for text in texts for one in SECRETS if one in text]


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        ("#!/bin/sh\necho bad: $1, env-value >&2; exit 4\n", {}, "command_failed"),
        (SCRIPT + "echo $1\n", {"time": "took {value} ms"}, "command_time_not_printed"),
        (SCRIPT, {"names": ("arg-value", "b")}, "command_name_secret"),
        (SCRIPT, {"baseline": "arg-value"}, "baseline_not_recorded"),
        (SCRIPT, {"command": "TOKEN=arg-value x"}, "command_not_found"),
        (SCRIPT, {"command": "x --token 'arg-value"}, "command_quotes_open"),
        (SCRIPT, {"arguments": ("--token 'arg-value",)}, "command_quotes_open"),
        (SCRIPT, {"environment": ("HF-TOKEN=arg-value",)}, "option_malformed"),
        (SCRIPT, {"profile_environment": ("TOKEN=arg-value,b",)}, "command_profile_values"),
        (SCRIPT, {"time": "arg-value"}, "command_time_form"),
    ],
)
def test_no_secret_reaches_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    options: dict[str, object],
    code: str,
) -> None:
    monkeypatch.setenv("OTHER_SECRET", "env-value")
    given = {
        "command": str(script_in(tmp_path / "own", text)),
        "environment": ("FAST=0,1",),
        "arguments": ("--token=arg-value",),
        "out": tmp_path / "made.zip",
        **options,
    }
    with pytest.raises(FuseScopeError) as caught:
        recorded(CommandRecording(**given))  # type: ignore[arg-type]
    assert caught.value.code == code
    assert not [one for one in SECRETS if one in caught.value.text]
