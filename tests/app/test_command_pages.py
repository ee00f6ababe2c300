"""A recorded command on every page: no page fails, and none claims to know a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.collectors.record_command import CommandRecording
from tests.app.pages import headline, is_clean, markdown_texts, texts, turn_to
from tests.own_commands import recorded, script_in


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("command")
    recording = CommandRecording(
        str(script_in(folder / "own")),
        environment=("FAST=0,1",),
        arguments=("--more,",),
        names=("slow", "slow less", "fast", "fast less"),
        time="step: {value} ms",
        profile_environment=("PROFILE=1",),
        out=folder / "command.zip",
        blocks=5,
    )
    return recorded(recording).read_bytes()


def test_every_page_shows_it(start: Callable[..., AppTest], tree: Path, made: bytes) -> None:
    (tree / "recordings" / "command.zip").write_bytes(made)
    key = "recorded:command.zip/{}"
    page = start(baseline=key.format("slow"), candidate=key.format("fast"))
    shown = {}
    for name in ("compare", "fusion", "trace", "variants", "record", "library"):
        page = page if name == "compare" else turn_to(page, name)
        assert is_clean(page), name
        assert [one.value for one in page.error] == [], name
        shown[name] = " ".join([*markdown_texts(page), *texts(page)])
    assert "2.00" in shown["compare"]
    assert "threads" not in shown["compare"]


def test_the_headline_is_of_what_the_command_prints(
    start: Callable[..., AppTest], tree: Path, made: bytes
) -> None:
    (tree / "recordings" / "command.zip").write_bytes(made)
    key = "recorded:command.zip/{}"
    page = start(baseline=key.format("slow"), candidate=key.format("fast"))
    assert headline(page) == "fast is 2.00× faster than slow"
