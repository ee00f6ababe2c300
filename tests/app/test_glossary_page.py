"""The glossary behind a button of every page."""

from __future__ import annotations

import pytest

from fusescope.app.parts import glossary
from tests.app.pages import is_clean
from tests.app.test_compare_page import Start


def test_it_opens_with_every_term(start: Start) -> None:
    page = start()
    page.button(key="glossary").click().run()
    assert is_clean(page)
    [table] = [one.value for one in page.dataframe if "Definition" in one.value.columns]
    assert list(table.columns) == [
        "Term", "Chinese", "Definition", "Ascend", "MindSpore", "PyTorch", "NVIDIA",
    ]  # fmt: skip
    rows = table.set_index("Term")
    assert len(rows) > 150
    assert rows.loc["operator", "Chinese"] == "算子"
    assert rows.loc["op type", "Ascend"] == "OP Type", "no markup"


def test_the_chinese_page_has_the_same_terms_in_chinese() -> None:
    english = glossary.terms(glossary.DOCS / "glossary.md")
    chinese = glossary.terms(glossary.DOCS / "zh" / "glossary.md")
    assert list(english["term"]) == list(chinese["term"])
    assert list(english["chinese"]) == list(chinese["chinese"])
    told = chinese.set_index("term")["definition"]
    assert told["op type"] == "算子的种类，例如 Conv；计算同一函数的算子类型相同。"


def test_without_the_docs_there_is_no_button(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(glossary, "DOCS", tmp_path)
    assert [one for one in start().button if one.key == "glossary"] == []
