"""What limits the candidate, on the Compare page."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.app.pages import is_clean, markdown_texts, texts
from tests.factories import CONV, FUSED_OPERATORS, GEMM, UNFUSED_OPERATORS, experiment_zip

Start = Callable[..., AppTest]
HOSTILE = "a](http://127.0.0.1:9/x) ![b](http://127.0.0.1:9/y) :red[c] <img src=x>/Conv"


def upload(page: AppTest, data: bytes) -> AppTest:
    page.file_uploader[0].set_value([("made.zip", data, "application/zip")])
    return page.run()


def test_a_candidate_that_optimises_nothing(start: Start) -> None:
    page = start()
    page.selectbox(key="choose_candidate").set_value("sample:mobilenetv2/unfused").run()
    assert is_clean(page)
    shown = list(markdown_texts(page))
    assert any(head.value.startswith("What limits") for head in page.subheader)
    assert any("1. Optimisation is off." in text and "50.0 µs" in text for text in shown)
    assert any("**21.4 %** of the time" in text for text in shown)
    assert "The predicted saving is 45.0 µs of 210 µs." in [one.value for one in page.text]
    assert "Try: Compare with the variant fused; record it where it is missing." in [
        one.value for one in page.text
    ]


def test_a_candidate_that_is_fused_names_nothing_that_is_done(start: Start) -> None:
    page = start()
    assert not any("Optimisation is off." in text for text in markdown_texts(page))


def test_a_slower_group_leads_to_its_operators(start: Start) -> None:
    """150 µs before, 400 after: the way to the group stands beside it."""
    slower = (*CONV[:1], "FusedConv", 400, CONV[3], CONV[4])
    data = experiment_zip(
        {"unfused": [10.0] * 8, "fused": [12.0] * 8},
        {"unfused": UNFUSED_OPERATORS, "fused": (slower, GEMM)},
    )
    page = upload(start(), data)
    assert is_clean(page)
    assert any("Slower than in the baseline." in text for text in markdown_texts(page))
    assert any(button.label == "Show this group" for button in page.button)


def test_names_of_findings_are_no_markup(start: Start) -> None:
    named = [(HOSTILE if one is CONV else one[0], *one[1:]) for one in UNFUSED_OPERATORS]
    slower = (HOSTILE, "FusedConv", 400, CONV[3], CONV[4])
    data = experiment_zip(
        {"unfused": [10.0] * 8, "fused": [12.0] * 8},
        {"unfused": named, "fused": (slower, *FUSED_OPERATORS[1:])},
    )
    page = upload(start(), data)
    assert is_clean(page)
    assert any(HOSTILE[:20] in text for text in texts(page)), "named in plain text"
    for text in markdown_texts(page):
        assert "![b]" not in text
        assert "<img" not in text.replace("`", "")
