"""The documentation as a site: built offline and strictly, with small pictures."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config

from scripts.pictures import MAX_BYTES, PICTURES

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


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


def test_pictures_are_small_and_used() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in [*PAGES, *ROOT.glob("README*.md")])
    pictures = sorted((ROOT / "docs" / "images").iterdir())
    assert len(pictures) > 10
    assert [one.name for one in pictures if f"images/{one.name})" not in text] == []
    assert [one.name for one in pictures if one.stat().st_size > MAX_BYTES] == []
    assert {one.stem for one in pictures} == set(PICTURES), "`make pictures` takes all of them"
