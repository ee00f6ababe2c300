"""Text of an attacker in files of every format, up to the report, the JSON and the terminal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.report.exports.comparison_json import comparison_json
from fusescope.analysis.report.exports.inspection import inspection_json
from fusescope.analysis.report.html import report_file_name, report_html
from fusescope.analysis.report.one_trace.html import trace_html
from fusescope.analysis.trace import Trace
from fusescope.app.cli.compare import compare as compare_verb
from fusescope.app.cli.inspect import inspect as inspect_verb
from tests import miniatures
from tests.report.enclosed import data_of, files_of
from tests.report.test_html import Page, of_experiment
from tests.security import planted
from tests.security.planted import CONTROLS, MARKUP

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Formats whose files hold numbers only.
WITHOUT_TEXT = {"tensorrt_times"}
each_format = pytest.mark.parametrize("reader", miniatures.FORMATS, ids=lambda r: r.name)
each_kind = pytest.mark.parametrize("reader", planted.of_each_kind(miniatures.FORMATS))


@cache
def marked(reader: Reader) -> Trace:
    return planted.only_trace(planted.suffixed(reader, MARKUP + CONTROLS))


@cache
def comparison(reader: Reader) -> Comparison:
    """The sample with hostile text against the sample as it is."""
    plain = planted.only_trace(miniatures.files(reader))
    return compare(*choose_sides(marked(reader), plain))


@cache
def page(reader: Reader) -> Page:
    return Page(report_html(comparison(reader), include_environment=True))


@pytest.mark.exhaustive
def test_the_texts_that_can_be_marked_are_known(golden: Callable[[str, Any], None]) -> None:
    found = {
        reader.name: {"sample": planted.digest(reader), "texts": planted.markable(reader)}
        for reader in miniatures.FORMATS
    }
    golden("security/plants.json", found)


@pytest.mark.parametrize(
    "column", ["name", "op_type", "provider", "launched_by", "members", "inputs"]
)
def test_the_plants_reach_every_column_of_operators(column: str) -> None:
    """Without plants the other tests say nothing."""
    traces = [marked(reader) for reader in miniatures.FORMATS]
    texts = [trace.operators[column].dropna().astype(str) for trace in traces]
    assert sum(text.str.contains("<img", regex=False).any() for text in texts) >= 3


def test_the_plants_reach_devices_counters_and_diagnostics() -> None:
    traces = {reader.name: marked(reader) for reader in miniatures.FORMATS}
    assert [name for name, t in traces.items() if "<img" in (t.meta.device or "")]
    assert [name for name, t in traces.items() if any("<img" in c for c in t.calls.columns)]
    examples = {name: [str(d.example) for d in t.diagnostics] for name, t in traces.items()}
    assert [name for name, told in examples.items() if any("<img" in text for text in told)]
    bare = {name for name, t in traces.items() if not any("<img" in x for x in texts(t))}
    assert bare == WITHOUT_TEXT


def texts(trace: Trace) -> list[str]:
    return planted.texts_of(trace)


@each_format
def test_r19_r20_no_reader_hands_on_what_disturbs_a_screen(reader: Reader) -> None:
    trace = marked(reader)
    assert [text for text in texts(trace) if FORBIDDEN.search(text)] == []
    if reader.name not in WITHOUT_TEXT:
        assert any("plant" in text for text in texts(trace)), "the plant is gone"


@each_kind
def test_h1_a_report_of_hostile_files_holds_no_element_of_theirs(reader: Reader) -> None:
    found = page(reader)
    assert len(found.scripts) == len(Page(report_html(of_experiment())).scripts)
    assert not found.of("img") and not found.of("iframe") and not found.of("object")
    for tag, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("src") is None
        href = attributes.get("href")
        assert href is None or href.startswith(("#", "data:,")), href
        assert "javascript:" not in (attributes.get("style") or "")
    titles = "".join(str(attributes.get("title")) for _, attributes in found.elements)
    shown = "<img src=x onerror" in found.text + titles  # as it is
    assert shown == (reader.name not in WITHOUT_TEXT)


@each_kind
def test_h1_a_report_of_one_hostile_file_holds_no_element_of_theirs(reader: Reader) -> None:
    html = trace_html(advised(marked(reader)))
    found = Page(html)
    assert {text for attributes, text in found.scripts if not attributes.get("type")} <= {
        text for _, text in page(reader).scripts
    }
    assert not found.of("img") and not found.of("iframe") and not found.of("object")
    for tag, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("src") is None
        assert str(attributes.get("href", "#")).startswith(("#", "data:,"))
    assert not FORBIDDEN.search(html)
    titles = "".join(str(attributes.get("title")) for _, attributes in found.elements)
    assert ("<img src=x onerror" in found.text + titles) == (reader.name not in WITHOUT_TEXT)


@each_kind
def test_h1_the_data_in_a_report_is_the_same_text_again(reader: Reader) -> None:
    (_, data), (_, enclosed) = [script for script in page(reader).scripts if script[0].get("type")]
    assert "<" not in data and ">" not in data
    assert re.fullmatch("[A-Za-z0-9+/]+=*", enclosed)
    payload = json.loads(data)
    names = payload["sides"][0]["ops"]["name"]
    known = set(marked(reader).operators["name"].astype(str))
    assert set(names) <= known and bool(names) == bool(known)


def test_h6_what_readers_mark_as_private_is_in_no_report() -> None:
    seen = 0
    for reader in miniatures.FORMATS:
        trace = planted.only_trace(miniatures.files(reader))
        secrets = {*trace.meta.redactable.values()} - {trace.meta.file_name}
        seen += len(secrets)
        if secrets:
            html = report_html(compare(*choose_sides(trace, trace)))
            html += trace_html(advised(trace))
            html += b" ".join(files_of(data_of(html)).values()).decode(errors="replace")
            assert [text for text in secrets if text in html] == [], reader.name
    assert seen >= 3


@pytest.mark.exhaustive  # tests/report compares reports with what they were
def test_h7_hash_seeds_change_no_byte(tmp_path: Path) -> None:
    """Sets of texts come in another order in every process."""
    chosen = [r for r in miniatures.FORMATS if r.name in ("kineto", "ascend_kernel_details")]
    for reader in chosen:
        save(tmp_path / reader.name, miniatures.files(reader))
    script = (
        "import hashlib, sys\n"
        "from pathlib import Path\n"
        "from fusescope.analysis.compare import compare\n"
        "from fusescope.analysis.compare.choice import choose_sides\n"
        "from fusescope.analysis.readers import read_path\n"
        "from fusescope.analysis.report.html import report_html\n"
        "first, second = (read_path(Path(text)) for text in sys.argv[1:])\n"
        "for sides in ((first, second), (second, first)):\n"
        "    html = report_html(compare(*choose_sides(*sides)))\n"
        "    print(hashlib.sha256(html.encode()).hexdigest())\n"
    )
    paths = [str(tmp_path / reader.name) for reader in chosen]
    said = {
        subprocess.run(
            [sys.executable, "-c", script, *paths], cwd=ROOT, capture_output=True, text=True,
            check=True, env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1
    assert len(said.pop().split()) == 2


@each_kind
def test_r29_the_report_is_named_in_plain_letters(reader: Reader) -> None:
    name = report_file_name(comparison(reader))
    assert re.fullmatch(r"[a-z0-9-]{1,60}-fusescope\.html", name)


@each_kind
def test_json_is_strict_and_holds_the_text_as_it_is(reader: Reader) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    written = (inspection_json(marked(reader)), comparison_json(comparison(reader)))
    for version, data in enumerate(written, start=1):
        values = json.loads(data, parse_constant=refuse)
        assert values["schema_version"] == version
    shown = MARKUP[:20] in json.dumps(values, ensure_ascii=False)
    assert shown == (reader.name not in WITHOUT_TEXT)


@each_kind
def test_r20_the_terminal_gets_neither_controls_nor_markup(
    reader: Reader, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Rich reads [bold red] as a colour, and stops at a [/] too many, unless it is told not to."""
    monkeypatch.setenv("COLUMNS", "2000")
    save(tmp_path / "marked", planted.suffixed(reader, MARKUP + CONTROLS))
    save(tmp_path / "plain", miniatures.files(reader))
    types = marked(reader).operators["op_type"].dropna().astype(str)
    for verb, paths in (
        (inspect_verb, [tmp_path / "marked"]),
        (compare_verb, [tmp_path / "marked", tmp_path / "plain"]),
    ):
        verb(*paths)
        captured = capsys.readouterr()
        assert FORBIDDEN.search(captured.out + captured.err) is None
        assert captured.out.count("loud[/]") == captured.out.count("[bold red]loud")
        if types.str.contains("<img", regex=False).any():
            assert "[bold red]loud[/]" in captured.out


def save(folder: Path, files: tuple[Source, ...]) -> None:
    for source in files:
        path = folder / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.data)
