"""The choice between kinds of work on Compare and Trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.app.pages import is_clean
from tests.serving_traces import DECODE, PREFILL, serving_json

Start = Callable[..., AppTest]


def files(tree: Path) -> None:
    """Three decoding steps whose kernel takes 100 us and then 200, two prefills of 500 us."""
    for name, decode_us in (("a.json", 100), ("b.json", 200)):
        steps = [(PREFILL, 500), (DECODE, decode_us)] * 2 + [(DECODE, decode_us)]
        (tree / "open" / name).write_bytes(serving_json(steps))


def told(page: AppTest) -> str:
    return " ".join(text.value for text in (*page.header, *page.markdown))


def test_a_kind_of_work_is_chosen_on_compare(tree: Path, start: Start) -> None:
    files(tree)
    page = start(baseline="file:a.json", candidate="file:b.json")
    assert is_clean(page)
    choice = page.selectbox(key="work")
    assert choice.options == [
        "Decoding of 4 sequences: 3 steps of 1.00 ms, in the candidate 3 of 1.00 ms",
        "Prefill of 64 tokens in 2 sequences: 2 steps of 1.00 ms, in the candidate 2 of 1.00 ms",
    ]
    choice.set_value("prefill-2-64").run()
    assert is_clean(page)
    assert "take 500 µs and 500 µs" in told(page)


def test_files_of_one_kind_of_work_have_no_choice(tree: Path, start: Start) -> None:
    for name in ("a.json", "b.json"):
        (tree / "open" / name).write_bytes(serving_json([(DECODE, 100)] * 3))
    page = start(baseline="file:a.json", candidate="file:b.json")
    assert is_clean(page)
    assert not [box for box in page.selectbox if box.key == "work"]
