"""The two glossaries have the same terms, every row is complete, and figures use their words."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
ENGLISH = DOCS / "glossary.md"
CHINESE = DOCS / "zh" / "glossary.md"
HAN = "\u4e00-\u9fff"
TOOLS = ["Ascend", "MindSpore", "PyTorch", "NVIDIA"]

# Terms that the field writes in Chinese, one by one.
FIXED = {
    "operator": "算子",
    "graph-kernel fusion": "图算融合",
    "operator fusion": "算子融合",
    "small-op ratio": "小算子占比",
    "speedup": "加速比",
    "cache utilisation": "缓存利用率",
    "compute utilisation": "算力利用率",
    "baseline": "基线",
    "comparison": "对比",
    "idle time": "空闲时间",
    "end-to-end latency": "端到端时延",
    "throughput": "吞吐率",
    "confidence interval": "置信区间",
}


def tables(page: Path) -> list[list[list[str]]]:
    """The tables of a page; each row a list of cells, heads included."""
    found: list[list[list[str]]] = []
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            if not inside:
                found.append([])
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not set("".join(cells)) <= {"-", ":"}:
                found[-1].append(cells)
        inside = line.startswith("|")
    return found


def rows(page: Path) -> list[list[str]]:
    return [row for table in tables(page) for row in table[1:]]


def test_both_have_the_same_terms_and_tools() -> None:
    english, chinese = rows(ENGLISH), rows(CHINESE)
    assert [row[:2] for row in english] == [row[:2] for row in chinese]
    for one, other in zip(english, chinese, strict=True):
        assert one[3:] == other[3:], one[0]
        if len(one) > 2:
            assert other[2].endswith(f"<br>{one[2]}"), f"{one[0]}: other definition"


@pytest.mark.parametrize("page", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_rows_are_complete(page: Path) -> None:
    for table in tables(page):
        assert table[0][3:] in (TOOLS, [])
        for row in table[1:]:
            assert len(row) == len(table[0]) and all(row), row
            assert re.search(f"[{HAN}]", row[1]), f"{row[0]}: no Chinese term"
            if len(row) > 2:
                assert row[2].endswith("."), f"{row[0]}: the definition is not a sentence"
                if page == CHINESE:
                    assert re.match(f".*[{HAN}].*。<br>", row[2]), row[0]


def test_one_word_for_one_thing() -> None:
    for column in (0, 1):
        names = Counter(row[column].lower() for row in rows(ENGLISH) if len(row) > 2)
        assert [name for name, times in names.items() if times > 1] == []


def test_the_words_of_the_field() -> None:
    words = {row[0]: row[1] for row in rows(ENGLISH)}
    assert {term: words.get(term) for term in FIXED} == FIXED


def test_every_figure_is_named() -> None:
    figures = [row[0] for row in rows(DOCS / "figures.md")]
    assert len(figures) > 50
    assert set(figures) <= {row[0] for row in rows(ENGLISH)}


def test_chinese_and_latin_stand_apart() -> None:
    beside = re.compile(f"[{HAN}][A-Za-z0-9]|[A-Za-z0-9%][{HAN}]")
    for row in rows(CHINESE):
        for cell in (row[1], row[2].split("<br>")[0] if len(row) > 2 else ""):
            assert not beside.search(cell), cell
