"""Lines of Chinese in a terminal: they break between letters, and no letter is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich import _wrap
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fusescope.app.cli.printing.wrapping import WORD, break_between_letters

TEXT = (
    "改变模型的图优化器；与 --variants 同用时，另加 fusescope 的（全部）变体。"
    "结果可信吗？没有发现疑点。"
)


@pytest.fixture(autouse=True)
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for owner, name in ((_wrap, "re_word"), (Text, "rstrip_end")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    break_between_letters()
    yield


@pytest.mark.parametrize("width", range(12, 60))
def test_no_letter_is_lost_in_a_cell_and_no_line_begins_with_a_comma(width: int) -> None:
    table = Table(box=None, pad_edge=False, show_header=False, width=width)
    table.add_row(TEXT)
    console = Console(width=width)
    with console.capture() as captured:
        console.print(table)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert "".join(lines).replace(" ", "") == TEXT.replace(" ", "")
    assert all(cell_len(line) <= width for line in lines)
    assert not any(line[0] in "，。；？）" or line[-1] == "（" for line in lines)
    # Only a word of Latin letters leaves more than one letter's room.
    assert all(cell_len(line) > width - 16 for line in lines[:-1])


def test_english_breaks_where_it_did() -> None:
    text = "The engine's process (libbad.so) was ended by signal SIGABRT."
    assert [found.group().strip() for found in WORD.finditer(text)] == text.split()
