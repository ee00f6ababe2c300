"""The glossary on every page: terms, what they mean, and what other tools call the same thing."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

import fusescope
from fusescope.analysis.messages import Message, language, say
from fusescope.app.language import spoken

DOCS = Path(fusescope.__file__).parent / "docs"
_HEADS = {
    "term": Message("Term"),
    "chinese": Message("Chinese"),
    "definition": Message("Definition"),
}
_TOOLS = ("Ascend", "MindSpore", "PyTorch", "NVIDIA")
_ROW = re.compile(r"^\| (?!term |英文 )(.+) \|$", re.MULTILINE)
_MARKUP = re.compile(r"`|<br>.*$")  # the Chinese page adds the English definition after a break
_HEIGHT, _LINES_HEIGHT = 480, 76
_WIDTHS = (130, 110, 340, 150, 130, 150, 150)


def link() -> None:
    """The button that opens it."""
    if not _page(language.current()).is_file():
        return
    if st.button(say("Glossary"), key="glossary", icon=":material/menu_book:", type="tertiary"):
        st.dialog(say("Glossary"), width="large")(spoken(_show))()


def _show() -> None:
    st.caption(say("FuseScope's terms, and what other tools call the same thing."))
    text = st.column_config.TextColumn
    widths: dict[Any, Any] = {at: text(width=px) for at, px in enumerate(_WIDTHS, start=1)}
    names = [head.text() for head in _HEADS.values()]
    st.dataframe(
        terms(_page(language.current())).set_axis([*names, *_TOOLS], axis="columns"),
        hide_index=True,
        height=_HEIGHT,
        row_height=_LINES_HEIGHT,  # definitions are sentences: cells this high break their lines
        column_config=widths,
        key="glossary_table",
        alt=say("Terms with their definitions"),
    )


def _page(code: str) -> Path:
    """The page in that language, else the English one."""
    own = DOCS / code / "glossary.md"
    return own if own.is_file() else DOCS / "glossary.md"


@lru_cache
def terms(page: Path) -> pd.DataFrame:
    """The page's terms that have a definition, as plain text: term, chinese, definition, and a
    column for each tool."""
    rows = [found.split(" | ") for found in _ROW.findall(page.read_text(encoding="utf-8"))]
    columns = [*_HEADS, *_TOOLS]
    cells = [[_MARKUP.sub("", cell) for cell in row] for row in rows if len(row) == len(columns)]
    return pd.DataFrame(cells, columns=columns)
