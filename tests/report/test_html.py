"""The HTML report as text: what must be in it, what must not, and that nothing in it can run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fusescope.analysis import units
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report import pages, tables, timelines
from fusescope.analysis.report.html import report_file_name, report_html
from fusescope.analysis.trace import Trace
from tests.factories import (
    FUSED_OPERATORS,
    UNFUSED_OPERATORS,
    Operator,
    experiment_zip,
    profile_json,
)

SCRIPT = "</script><script>document.title='pwned'</script>"
IMAGE = "<img src=x onerror=\"document.title='pwned'\">"
COMMENT = "<!--<script>\u2028"
TIMES = {"unfused": [10.0 + b / 100 for b in range(8)], "fused": [5.0] * 8}


class Page(HTMLParser):
    """Elements, attributes and texts of a page, as a browser's parser sees them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.text = re.sub(r"\s+", " ", "".join(self.texts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["script"]:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self._open[-1:] != ["style"]:
            self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def profile(operators: Sequence[Operator], runs: int = 1, name: str = "p.json") -> Trace:
    value = read(Source(name, profile_json(operators, runs)))
    assert isinstance(value, Trace)
    return value


def experiment(
    times: Mapping[str, Sequence[float]] = TIMES, name: str = "e.zip", **more: Any
) -> Experiment:
    value = read(Source(name, experiment_zip(times, **more)))
    assert isinstance(value, Experiment)
    return value


def of_experiment(times: Mapping[str, Sequence[float]] = TIMES, **more: Any) -> Comparison:
    recorded = experiment(times, **more)
    return compare(*choose_sides(recorded, None, None, recorded.record.variants[1].name))


@cache
def plain_report() -> str:
    return report_html(of_experiment())


def of_profiles(runs: int = 1) -> Comparison:
    first = profile(UNFUSED_OPERATORS, runs, "before.json")
    second = profile(FUSED_OPERATORS, runs, "after.json")
    return compare(*choose_sides(first, second))


def renamed(operator: Operator, name: str, op_type: str | None = None) -> Operator:
    return (name, op_type or operator[1], *operator[2:])


def test_verdict_numbers_and_tables_are_text_that_needs_no_script() -> None:
    page = Page(plain_report())
    # trimmed mean of 10.00 … 10.07 ms is 10.035 ms: 2.007 times 5 ms
    assert "fused is 2.01× faster than unfused" in page.text
    assert "95 % interval" in page.text
    assert "Latency −50.2 %, throughput +100.7 %." in page.text
    assert "Un-profiled wall time, 8 blocks" in page.text
    assert "10.0 ms → 5.00 ms" in page.text
    # small-op ratio: (30 + 20) / 200 µs, and none
    assert "25.0 % → 0.0 %" in page.text
    assert "light time 50.0 µs → 0 ns, 2 → 0 executions" in page.text
    assert "a/BatchNormalization" in page.text
    assert "Change, µs" in page.text and "−30.0" in page.text
    for heading in ("Figures", "Timelines", "Can I trust this?", "Op types", "Operators"):
        assert heading in page.text
    assert "recorded 2026-01-02 03:04 UTC" in page.text
    assert all(table for table in page.of("table"))
    assert len(page.of("table")) >= len(page.of("caption")) >= 3


def test_every_definition_is_listed_and_linked() -> None:
    comparison = of_experiment()
    page = Page(report_html(comparison))
    ids = {attributes.get("id") for _, attributes in page.elements}
    targets = {a["href"] for a in page.of("a") if a.get("href")}
    assert comparison.figures
    for figure in comparison.figures:
        assert f"def-{figure.code}" in ids
        assert f"#def-{figure.code}" in targets
    assert all(target and target[1:] in ids for target in targets)


def test_policy_names_exactly_the_scripts_of_the_page() -> None:
    page = Page(plain_report())
    policy = next(
        meta["content"]
        for meta in page.of("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    run = [text for attributes, text in page.scripts if attributes.get("type") is None]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]
    assert [meta for meta in page.of("meta")].index({"charset": "utf-8"}) == 0
    assert page.of("meta")[1].get("http-equiv") == "Content-Security-Policy"


def test_nothing_is_loaded_and_no_handler_is_inline() -> None:
    html = plain_report()
    page = Page(html)
    assert len(page.elements) > 100
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("src") is None
        href = attributes.get("href")
        assert href is None or href.startswith(("#", "data:,"))
    without_namespaces = html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", without_namespaces)


@pytest.mark.parametrize("hostile", [SCRIPT, IMAGE, COMMENT, "\u202egpj.exe", "a\x1b[31m\x7fb"])
def test_hostile_names_stay_text(hostile: str) -> None:
    times = {hostile: TIMES["unfused"], f"{hostile}2": TIMES["fused"]}
    operators = [
        renamed(operator, f"{hostile}/{n}", hostile) for n, operator in enumerate(UNFUSED_OPERATORS)
    ]
    comparison = of_experiment(
        times, operators=dict.fromkeys(times, operators), model_name=hostile, name=f"{hostile}.zip"
    )
    plain = Page(plain_report())
    html = report_html(comparison, include_environment=True)
    page = Page(html)
    assert len(page.scripts) == len(plain.scripts)
    assert not page.of("img")
    assert page.of("title") == [{}]
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "\u2028" not in next(text for a, text in page.scripts if a.get("type"))
    if hostile in (SCRIPT, IMAGE):
        assert hostile in page.text  # shown as it is


def test_payload_is_the_timeline_in_json() -> None:
    page = Page(plain_report())
    text = next(text for attributes, text in page.scripts if attributes.get("type"))
    payload = json.loads(text)
    assert [side["label"] for side in payload["sides"]] == ["unfused", "fused"]
    assert payload["sides"][0]["ops"]["name"][0] == "a/Conv"


def test_equal_comparisons_give_equal_bytes() -> None:
    data = experiment_zip(TIMES)
    first, second = (read(Source("e.zip", data)) for _ in range(2))
    html = report_html(compare(*choose_sides(first)))
    assert html == report_html(compare(*choose_sides(second)))


def with_environment(comparison: Comparison) -> Comparison:
    """The comparison with a host, a user and folders in all places that may hold them."""
    experiment = comparison.baseline.experiment
    assert experiment is not None
    record = msgspec.structs.replace(
        experiment.record,
        settings=msgspec.structs.replace(
            experiment.record.settings,
            command="fusescope collect /home/lovelace/secret/net.onnx --out=/data/lovelace/e.zip "
            "--shape /in/x=1,3 --inputs 'C:\\Users\\lovelace\\in.npz'",
        ),
        model=msgspec.structs.replace(
            experiment.record.model, name="/home/lovelace/secret/net.onnx", source="file"
        ),
    )
    sides = []
    for side in (comparison.baseline, comparison.candidate):
        assert side.variant is not None
        meta = replace(side.trace.meta, redactable={"host": "lovelace.example"})
        sides.append(
            replace(
                side,
                trace=replace(side.trace, meta=meta),
                experiment=replace(experiment, record=record),
                variant=msgspec.structs.replace(
                    side.variant, settings={"rules": "/home/lovelace/rules.json"}
                ),
            )
        )
    return compare(*sides)


def test_environment_is_left_out_unless_asked_for() -> None:
    comparison = with_environment(of_experiment())
    html = report_html(comparison)
    for secret in ("lovelace", "secret", "/home", "C:\\"):
        assert secret not in html
    page = Page(html)
    command = "fusescope collect net.onnx --out=e.zip --shape /in/x=1,3 --inputs in.npz"
    assert command in page.text
    assert "Test CPU" in page.text
    assert "rules.json" in page.text
    assert "fusescope compare e.zip --baseline unfused --candidate fused" in page.text
    whole = Page(report_html(comparison, include_environment=True)).text
    assert "lovelace.example" in whole
    assert "/home/lovelace/secret/net.onnx" in whole


def test_bare_profiles_say_why_parts_are_missing() -> None:
    page = Page(report_html(of_profiles()))
    assert (
        "after.json took 0.79× the time of before.json (166 against 210 µs, −21.0 %)" in page.text
    )
    assert "One profile each, so the noise is unknown." in page.text
    assert "the date is not in the file" in page.text
    assert (
        "Not known: compute utilisation. Reason: the machine's peak is not in the file" in page.text
    )
    assert "Not known: cache-miss bytes" in page.text
    assert "~10.0 µs, assumed" in page.text
    assert "fusescope compare before.json after.json --html report.html" in page.text
    assert "1 doubt. The files are two separate recordings." in page.text


def test_doubts_and_notes_are_counted_apart_and_as_they_are_marked() -> None:
    sound = Path(__file__).resolve().parents[2] / "sample_traces" / "mobilenetv2.zip"
    recorded = read(Source("sample.zip", sound.read_bytes()))
    for comparison, line in (
        (of_profiles(), "1 doubt."),  # three that any two separate files raise count as one
        (of_experiment(), "2 doubts."),
        (compare(*choose_sides(recorded)), "No doubt was found."),
    ):
        section = re.search(r'<section id="trust".*?</section>', report_html(comparison), re.DOTALL)
        assert section is not None
        shown = Page(section[0])
        marks = [mark.get("class") for mark in shown.of("li") if "class" in mark]
        doubts, notes = marks.count("warning"), marks.count("info")
        head = f"All doubts ({doubts}) and notes ({notes})" if doubts else f"All notes ({notes})"
        assert line in shown.text and head in shown.text
        assert line.startswith(f"{doubts} " if doubts else "No") and notes > 0


def test_sections_stand_in_the_order_of_the_dashboard() -> None:
    html = report_html(compare(*choose_sides(experiment())))
    ids = re.findall(r'<section id="(\w+)"', html)
    wanted = [
        "verdict",
        "trust",
        "figures",
        "fusion",
        "timelines",
        "operators",
        "types",
        "roofline",
    ]
    assert [name for name in ids if name in wanted] == wanted
    assert html.index("Which time is which") > html.index('id="figures"')


def test_what_only_one_side_has_is_no_card_but_named() -> None:
    page = Page(report_html(compare(*choose_sides(experiment(), profile(FUSED_OPERATORS)))))
    assert "Not compared: peak memory and output difference. Reason: one side:" in page.text
    cards = page.text.split("~ stands before")[0]
    assert "small-op ratio" in cards
    assert "peak memory" not in cards


def test_one_run_a_side_is_no_distribution() -> None:
    for runs, is_there in ((1, False), (2, True)):
        sides = [read(Source("a.json", profile_json(UNFUSED_OPERATORS, n))) for n in (1, runs)]
        page = report_html(compare(*choose_sides(*sides)))
        assert ('<section id="runs">' in page) is is_there
        assert ('href="#runs"' in page) is is_there


def test_no_time_at_all_shows_no_number() -> None:
    idle = [(name, kind, 0, i, o) for name, kind, _, i, o in UNFUSED_OPERATORS]
    trace = read(Source("idle.json", profile_json(idle, 2, gap_us=0)))
    page = Page(report_html(compare(*choose_sides(trace, trace))))
    assert "Cannot tell" in page.text
    assert "A side has no time" in page.text
    assert "Run times" not in page.text
    assert not re.search(r"\b(nan|inf|NaN|None)\b", page.text)


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ({"unfused": [10.0, 9.0] * 4, "fused": [9.0, 10.0] * 4}, "The change is within the noise"),
    ],
)
def test_undecided_is_said_with_its_reason(
    times: Mapping[str, Sequence[float]], reason: str
) -> None:
    html = report_html(of_experiment(times))
    page = Page(html)
    assert "Cannot tell whether fused is faster or slower than unfused" in page.text
    assert reason in page.text
    assert 'id="verdict" class="cannot-tell"' in html


def test_unknown_noise_is_not_called_noise() -> None:
    html = report_html(of_experiment({"unfused": [10.0] * 3, "fused": [5.0] * 3}))
    page = Page(html)
    assert "fused took 0.50× the time of unfused (5.00 against 10.0 ms, −50.0 %)." in page.text
    assert "Fewer than 5 processes a side, so the noise is unknown." in page.text
    assert "Cannot tell" not in page.text and "cannot be told from noise" not in page.text
    assert 'id="verdict" class="noise-unknown"' in html


def test_slower_is_said_in_words() -> None:
    page = Page(report_html(of_experiment({"fused": [5.0] * 8, "unfused": [10.0] * 8})))
    assert "unfused is 2.00× slower than fused" in page.text


def test_sides_of_one_name_are_told_apart() -> None:
    first = experiment(name="monday.zip")
    second = experiment({name: [t * 2 for t in ms] for name, ms in TIMES.items()}, "tuesday.zip")
    page = Page(report_html(compare(*choose_sides(first, second, "fused", "fused"))))
    assert "tuesday · fused is 2.00× slower than monday · fused" in page.text
    assert "monday.zip" in page.text
    assert "tuesday.zip" in page.text
    assert "compare monday.zip tuesday.zip --baseline fused --candidate fused" in page.text


def test_long_names_are_cut_in_the_middle_and_kept_in_full() -> None:
    name = f"first/{'x' * 200}/last"
    trace = profile([renamed(UNFUSED_OPERATORS[0], name)], name=f"{'y' * 90}.json")
    html = report_html(compare(*choose_sides(trace, trace)))
    row = next(th for th in Page(html).of("th") if th.get("title") == name)
    assert row["scope"] == "row"
    assert "first/xxxx" in html
    bold = re.search(r"<h1.*?</h1>", html, re.DOTALL)
    assert bold is not None
    assert len(re.sub("<[^>]*>", "", bold[0])) < 240


def test_many_operators_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "VISIBLE_ROWS", 2)
    monkeypatch.setattr(tables, "MAX_ROWS", 3)
    page = Page(report_html(of_experiment()))
    assert "sum of all 4 rows" in page.text
    assert "1 more operator " in page.text
    assert "1 more operator with a smaller change is not in this report" in page.text
    rows = [row["data-row"] for row in page.of("tr") if row.get("data-row")]
    assert rows == ["0", "1", "2"]


def test_timelines_of_very_many_executions_say_down_to_which_time_they_are_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of 3000 operators has a name of its own, which takes most of the room."""
    names = [renamed(UNFUSED_OPERATORS[0], f"layer_{n}/Conv") for n in range(3000)]
    trace = profile(names)
    comparison = compare(*choose_sides(trace, trace))
    whole = report_html(comparison)
    monkeypatch.setattr(timelines, "MAX_DRAWING", 60_000)
    short = report_html(comparison)
    assert len(short) < len(whole) - 100_000
    told = "In this report the timelines are exact down to "
    assert told not in Page(whole).text
    [data] = [
        json.loads(text)
        for attributes, text in Page(short).scripts
        if attributes.get("id") == "timeline-data"
    ]
    assert f"{told}{units.duration(2 ** data['level'])}:" in Page(short).text
    assert [side["calls_count"] for side in data["sides"]] == [3000, 3000]


def test_paths_of_pictures_are_whole_however_short_texts_must_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """40 boxes and 12 blocks of 3 runs are more data than a text may have here."""
    monkeypatch.setattr(pages, "MAX_SHOWN", 100)
    boxes = profile([renamed(UNFUSED_OPERATORS[0], f"layer_{n}/Conv") for n in range(40)])
    times = {name: [5.0 + n / 100 for n in range(12)] for name in ("unfused", "fused")}
    reports = (
        report_html(compare(*choose_sides(boxes, boxes))),
        report_html(of_experiment(times)),
    )
    of_timelines, of_runs = (
        [path["d"] or "" for path in Page(report).of("path") if "d" in path] for report in reports
    )
    assert not [data for data in (*of_timelines, *of_runs) if "…" in data]
    assert [data.count("z") for data in of_timelines][:2] == [40, 40]
    assert [data.count("h0") for data in of_runs if len(data) > 100 and "h0" in data] == [36] * 3


def test_operators_come_largest_change_first() -> None:
    page = Page(plain_report())
    names = [th["title"] for th in page.of("th") if "name" in (th.get("class") or "").split()]
    # −30 µs, −20 µs, +10 µs, 0
    assert names == ["a/BatchNormalization", "a/Relu", "a/Conv", "head/Gemm"]


@pytest.mark.parametrize(
    ("compared", "name"),
    [
        (of_experiment, "tiny-fused-vs-unfused-fusescope.html"),
        (of_profiles, "after-vs-before-fusescope.html"),
        (
            partial(of_experiment, {"../../é": [1.0], "¿?": [1.0]}, model_name="…"),
            "vs-e-fusescope.html",
        ),
        (partial(of_experiment, model_name="m" * 200), f"{'m' * 60}-fusescope.html"),
    ],
)
def test_file_name_is_a_slug(compared: Callable[[], Comparison], name: str) -> None:
    assert report_file_name(compared()) == name
    assert re.fullmatch(r"[a-z0-9-]{1,60}-fusescope\.html", name)


def test_contrast_of_texts() -> None:
    css = (Path(tables.__file__).parent / "assets" / "report.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    for theme in (light, dark):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", theme))
        for text in ("text", "muted", "link", "faster", "slower"):
            for background in ("page", "raised"):
                assert contrast(colours[text], colours[background]) >= 4.5, (text, background)
        assert contrast(colours["text"], colours["picked"]) >= 4.5
        assert contrast(colours["muted"], colours["picked"]) >= 4.5
        assert contrast(colours["warning"], colours["warning-page"]) >= 4.5


def contrast(first: str, second: str) -> float:
    """WCAG 2 contrast of two #rrggbb colours."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_sides_go_by_their_names_or_both_by_their_roles() -> None:
    def heads(*names: str) -> str:
        sides = [read(Source(name, profile_json(FUSED_OPERATORS, 2))) for name in names]
        return report_html(compare(*choose_sides(*sides)))

    assert "a.json → b.json, and the change." in heads("a.json", "b.json")
    assert "baseline → candidate, and the change." in heads("a.json", f"{'long' * 12}.json")


def step_section(comparison: Comparison) -> str:
    return report_html(comparison).partition('<section id="step">')[2].partition("</section>")[0]


def test_where_the_time_of_a_run_goes() -> None:
    section = step_section(of_profiles(runs=3))
    assert section.count('<div class="of-run ') == 2
    assert "width:100.00%" in section, "the longer run"
    assert "Shares of the change" not in section, "one profile a side: no change is explained"
    assert "Measured: shares of the mean time as profiled." in section


def test_a_side_whose_runs_are_not_marked_is_named_and_not_drawn() -> None:
    first = profile(UNFUSED_OPERATORS, 3, "before.json")
    second = profile(FUSED_OPERATORS, 3, "<i>after.json")
    second = replace(
        second,
        runs=second.runs.assign(
            kind=second.runs["kind"].cat.set_categories(["file"]).fillna("file")
        ),
    )
    section = step_section(compare(*choose_sides(first, second)))
    assert section.count('<div class="of-run ') == 1
    assert re.search(r'class="missing">Not known for <bdi>[^<]*after', section)
    assert "<i>after" not in section
    neither = compare(*choose_sides(second, second))
    assert step_section(neither) == ""
