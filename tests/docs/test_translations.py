"""A Chinese page says what its English page says: the same headings, tables, code and numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {
    "README.md": "README.zh.md",
    "docs/alternating.md": "docs/zh/alternating.md",
    "docs/bisect.md": "docs/zh/bisect.md",
    "docs/cases.md": "docs/zh/cases.md",
    "docs/ci.md": "docs/zh/ci.md",
    "docs/commands.md": "docs/zh/commands.md",
    "docs/dashboard.md": "docs/zh/dashboard.md",
    "docs/faq.md": "docs/zh/faq.md",
    "docs/figures.md": "docs/zh/figures.md",
    "docs/findings.md": "docs/zh/findings.md",
    "docs/fleet.md": "docs/zh/fleet.md",
    "docs/formats.md": "docs/zh/formats.md",
    "docs/fusion.md": "docs/zh/fusion.md",
    "docs/glossary.md": "docs/zh/glossary.md",
    "docs/index.md": "docs/zh/index.md",
    "docs/kernels.md": "docs/zh/kernels.md",
    "docs/library.md": "docs/zh/library.md",
    "docs/limits.md": "docs/zh/limits.md",
    "docs/prediction.md": "docs/zh/prediction.md",
    "docs/privacy.md": "docs/zh/privacy.md",
    "docs/profilers.md": "docs/zh/profilers.md",
    "docs/recipes.md": "docs/zh/recipes.md",
    "docs/recording.md": "docs/zh/recording.md",
    "docs/report.md": "docs/zh/report.md",
    "docs/rules.md": "docs/zh/rules.md",
    "docs/sql.md": "docs/zh/sql.md",
    "docs/tutorial.md": "docs/zh/tutorial.md",
    "docs/verdict.md": "docs/zh/verdict.md",
}
HAN = "\u4e00-\u9fff"
CODE = re.compile(r"`[^`\n]+`")
pairs = pytest.mark.parametrize(("english", "chinese"), PAGES.items(), ids=list(PAGES))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: str) -> list[list[str]]:
    """Lines of every code block, without comments."""
    found = re.findall(r"^```\w*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [[re.sub(r"\s+#.*", "", line) for line in block.splitlines()] for block in found]


def prose(page: str) -> str:
    """The page without code blocks."""
    return re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)


def headings(page: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", prose(page), re.MULTILINE)]


def table_rows(page: str) -> list[int]:
    """The number of cells of every row of a table, in order."""
    rows = re.findall(r"^\|.*\|$", prose(page), re.MULTILINE)
    return [len(re.split(r"(?<!\\)\|", row)) for row in rows]


def list_items(page: str) -> int:
    return len(re.findall(r"^(?:-|\d+\.) ", prose(page), re.MULTILINE))


def numbers(page: str) -> set[str]:
    """Numbers in sentences: not in code, links or names of files."""
    words = re.sub(r"\]\([^)]*\)", "", CODE.sub("", prose(page)))
    return set(re.findall(r"(?<![\w.])\d[\d.,]*(?<![.,])", words))


@pairs
def test_pages_link_to_each_other(english: str, chinese: str) -> None:
    for here, there, name in ((english, chinese, "简体中文"), (chinese, english, "English")):
        targets = [
            ((ROOT / here).parent / target).resolve()
            for label, target in re.findall(r"^\[(.+?)\]\((.+?)\)$", text(here), re.MULTILINE)
            if label == name
        ]
        assert targets == [ROOT / there], here


@pairs
def test_structure_is_the_same(english: str, chinese: str) -> None:
    one, other = text(english), text(chinese)
    assert headings(one) == headings(other)
    assert table_rows(one) == table_rows(other)
    assert list_items(one) == list_items(other)


@pairs
def test_code_is_the_same(english: str, chinese: str) -> None:
    one, other = blocks(text(english)), blocks(text(chinese))
    assert [len(block) for block in one] == [len(block) for block in other]
    for lines, translated in zip(one, other, strict=True):
        for line, same in zip(lines, translated, strict=True):
            assert line == same or re.search(f"[{HAN}]", same), same
    assert set(CODE.findall(prose(text(english)))) == set(CODE.findall(prose(text(chinese))))


@pairs
def test_numbers_are_the_same(english: str, chinese: str) -> None:
    assert numbers(text(english)) == numbers(text(chinese))


def test_figures_have_their_names_from_the_glossary() -> None:
    glossary = dict(
        re.findall(r"^\| ([^|]+) \| ([^|]+) \|", text("docs/glossary.md"), re.MULTILINE)
    )
    row = re.compile(r"^\| ([^|]+) \| `(\w+)` \|", re.MULTILINE)
    named = {code: name for name, code in row.findall(text("docs/zh/figures.md"))}
    assert len(named) > 50
    assert named == {code: glossary[name] for name, code in row.findall(text("docs/figures.md"))}


@pairs
def test_chinese_and_latin_stand_apart(english: str, chinese: str) -> None:
    plain = re.sub(r"\]\([^)]*\)", "]", CODE.sub("`", prose(text(chinese))))
    assert re.findall(f"[{HAN}][A-Za-z0-9`]|[A-Za-z0-9%][{HAN}]", plain) == []
    assert re.findall(f"[{HAN}][,;:?!]", plain) == [], "Chinese sentences have Chinese punctuation"


@pairs
def test_emphasis_is_seen_by_every_markdown(english: str, chinese: str) -> None:
    """CommonMark neither begins nor ends emphasis between a punctuation mark and a letter."""
    marks, letters = "，。：；！？（）“”、", f"[{HAN}A-Za-z0-9]"
    plain = prose(text(chinese)).replace("\\*", "")
    for span in re.finditer(r"(.?)(?<!\*)(\*{1,2})(?![* ])([^*\n|]+?)(?<! )\2(?!\*)(.?)", plain):
        before, _, inner, after = span.groups()
        assert not (inner[-1] in marks and re.match(letters, after)), span[0]
        assert not (inner[0] in marks and re.match(letters, before)), span[0]


@pairs
def test_no_sentence_is_left_in_english(english: str, chinese: str) -> None:
    for line in CODE.sub("", prose(text(chinese))).splitlines():
        if not line.startswith(("|", "[", "<!--")):
            assert not re.search(r"[a-z]{2,}(?: [a-z]{2,}){3}", line), line
    first = text(english).splitlines()[0] == text(chinese).splitlines()[0]
    assert first == (english == "README.md"), "the title is not translated"


@pairs
def test_chinese_pages_link_to_chinese_ones(english: str, chinese: str) -> None:
    there = {(ROOT / one).resolve(): other for one, other in PAGES.items()}
    targets = re.findall(r"(?<!\[English\])\(([^)#:\s]+\.md)(?:#[^)]*)?\)", text(chinese))
    found = [((ROOT / chinese).parent / target).resolve() for target in targets]
    assert [there[target] for target in found if target in there] == []


def test_every_link_of_the_docs_leads_somewhere() -> None:
    pages = [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
    assert len(pages) > 20
    for page in pages:
        assert "]()" not in page.read_text("utf-8"), page.name
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
