"""The report of releases, and the text for the engine's tracker."""

from __future__ import annotations

import re

from fusescope.analysis.releases.changes import changes
from fusescope.analysis.report.releases.html import drawn_groups, releases_html
from fusescope.analysis.report.releases.issue import Example, issue_text
from tests.releases.test_changes import FUSED, HALF, PLAIN, history

SEEN = history(FUSED, None, PLAIN, HALF)


def test_the_report_is_one_file_in_every_language() -> None:
    page = releases_html(SEEN, changes(SEEN))
    assert page == releases_html(SEEN, changes(SEEN))
    assert page.count("<html") == 1 and page.count("<h1") == 1
    assert "<script" not in page and "http:" not in page.replace("http://www.w3.org", "")
    assert "https:" not in page
    assert "2 of 3 releases from 1.0 to 1.3 change the operators that run." in page
    assert "1.0 → 1.2: 3 operators became 5: Gelu 1 → 0, Erf 0 → 1," in page
    assert len(re.findall("<svg", page)) == 4  # two changes, two sides


def test_a_hostile_name_is_text() -> None:
    import msgspec

    model = msgspec.structs.replace(SEEN.model, name="<script>alert(1)</script>")
    page = releases_html(msgspec.structs.replace(SEEN, model=model), changes(SEEN))
    assert "<script" not in page and "&lt;script" in page


def test_groups_that_are_alike_are_drawn_once() -> None:
    (change, _) = changes(SEEN)
    assert len(drawn_groups(change)) == 1


def test_the_issue_has_versions_evidence_and_the_checked_model() -> None:
    change = changes(SEEN)[0]
    text = issue_text(SEEN, change, Example("cut.onnx", 3, 5, change))
    assert text.startswith("# Gelu no longer fused since 1.2 (still so in 1.3)\n")
    assert "- Gelu became Erf + Sqrt + Exp in 1 group: Erf\\_b." in text
    assert "`cut.onnx` has 3 operators of the model (5 in all), with random weights." in text
    assert "3 operators with 1.0, 5 with 1.2 (Gelu became Erf + Sqrt + Exp)" in text
    assert "# pip install onnxruntime==1.0, then onnxruntime==1.2" in text
    assert "| 1.1 | – | there is no wheel for this Python and machine |" in text
    (code,) = re.findall("```python\n(.*?)```", text, re.DOTALL)
    compile(code, "issue", "exec")


def test_without_a_model_the_issue_says_so() -> None:
    text = issue_text(history(PLAIN, FUSED), changes(history(PLAIN, FUSED))[0])
    assert text.startswith("# operators run differently since 1.1\n")
    assert "The model that shows it is not attached." in text
