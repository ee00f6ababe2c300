"""What `--json` prints of an error: docs/json.md."""

from __future__ import annotations

import json
import re
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, language
from fusescope.analysis.messages.errors.places import AT_ROW
from fusescope.analysis.report.exports.error_json import error_json

DOCS = Path(__file__).resolve().parents[2] / "docs" / "json.md"


def values(error: FuseScopeError) -> dict[str, object]:
    told = json.loads(error_json(error))
    assert list(told) == ["error"]
    return dict(told["error"])


def test_code_and_values_are_beside_the_sentences() -> None:
    error = FuseScopeError(
        "too_many_events", where="t.json", n=6_000_001, limit=5_000_000, raised="events=6100000"
    )
    assert values(error) == {
        "code": "too_many_events",
        "what": "This trace has 6\u202f000\u202f001 events, which is more than the limit of "
        "5\u202f000\u202f000",
        "where": "t.json",
        "hint": "Give less at once, or raise the limit: `fusescope --limit events=6100000 …`.",
        "values": {"n": 6_000_001, "limit": 5_000_000, "raised": "events=6100000"},
    }


def test_it_is_english_whatever_the_language(pseudo: Path) -> None:
    rows = FuseScopeError("two_tables", where=AT_ROW.of(file="t.csv", row=4))
    image = FuseScopeError("other_file", kind=Message("a PNG image"))
    with language.speaking("pseudo"):
        assert "⟦" in rows.text and "⟦" in image.text
        assert values(rows)["where"] == "t.csv, row 4"
        assert values(image) == {
            "code": "other_file",
            "what": "This is a PNG image, not a trace",
            "where": None,
            "hint": "See docs/formats.md for what FuseScope opens, and how to record it.",
            "values": {"kind": "a PNG image"},
        }


def test_names_stay_as_they_came() -> None:
    hostile = "a\x1b]0;x\x07</script>\u202e"
    assert values(FuseScopeError("graph_cycle", node=hostile))["values"] == {"node": hostile}


def test_every_field_is_documented() -> None:
    section = DOCS.read_text(encoding="utf-8").partition("## Errors")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", "".join(rows)))
    assert named == set(values(FuseScopeError("empty_file")))
