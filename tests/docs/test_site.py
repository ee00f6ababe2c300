"""The documentation as a site: built offline and strictly, and what it tells to type works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from app.cli.advise import advise
from app.cli.compare import compare
from app.cli.inspect import inspect

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
VERBS = {"inspect": inspect, "compare": compare, "advise": advise}


def test_the_site_is_built_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    """A link or an anchor that leads nowhere, and a page without a place, end the build."""
    config = load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path))
    build(config)
    pages = {path.relative_to(tmp_path).with_suffix(".md") for path in tmp_path.rglob("*.html")}
    assert {path.relative_to(ROOT / "docs") for path in PAGES} <= pages
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|link|img)[^>]*\s(?:src|href)=\"([^\"]+)\"", index)
    assert loaded and [one for one in loaded if re.match(r"(https?:)?//", one)] == []


def test_every_page_has_a_place_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r": ((?:zh/)?[a-z-]+\.md)$", nav, re.MULTILINE)
    assert sorted(named) == sorted(page.relative_to(ROOT / "docs").as_posix() for page in PAGES)


def test_the_first_minutes_can_be_typed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample_traces").symlink_to(ROOT / "sample_traces")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    commands = re.findall(r"`fusescope ([^`]+)`", page)
    assert len(commands) == 5
    for command in commands:
        verb, path, *options = shlex.split(command)
        assert options in ([], ["--html", "report.html"])
        given = {"html": Path(options[1])} if options else {}
        VERBS[verb](Path(path), **given)  # type: ignore[operator]
        assert len(capsys.readouterr().out.splitlines()) > 5
