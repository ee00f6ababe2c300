"""Text in Markdown for GitHub: nothing in it notifies, links or is drawn."""

from __future__ import annotations

import html
import re

import pytest

from fusescope.analysis.report.exports.markdown import plain

# What GitHub makes links, pictures and formulas of, in the text that is left without escapes.
_MENTION = re.compile(r"(?<!\w)@[A-Za-z\d]")
_ISSUE = re.compile(r"#\d|\bGH-\d", re.IGNORECASE)
_EMOJI = re.compile(r":[\w+-]+:")


@pytest.mark.parametrize(
    "text",
    ["@name did", "a @org/team", "fix #12", "org/repo#7", "GH-3 gh-4", ":smile: :+1:", "$x$ $$y$$"],
)
def test_nothing_of_a_trace_notifies_or_renders(text: str) -> None:
    shown = plain(text)
    read = re.sub(r"\\([^\w\s])", r"\1", html.unescape(shown))  # what the filters of GitHub see
    assert not _MENTION.search(read) and not _ISSUE.search(read) and not _EMOJI.search(read)
    assert "$" not in read.replace("<span>$</span>", "")
    seen = read.replace("\u200b", "").replace("<span>$</span>", "$")
    assert seen == text  # and whoever reads it sees the text


@pytest.mark.parametrize("text", ["aten::conv2d", "std::vector<int>", "a # b", "12:30"])
def test_other_text_is_not_torn(text: str) -> None:
    assert "\u200b" not in html.unescape(plain(text))
