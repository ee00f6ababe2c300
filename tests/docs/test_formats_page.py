"""docs/formats.md says of every format what its reader declares, and the samples keep to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fusescope.analysis.doctor import fields
from fusescope.analysis.messages import language
from fusescope.analysis.readers import read_path
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.reader import ALWAYS, FIELDS, Reader
from fusescope.analysis.wording.doctor import FIELD_LABELS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "formats.md"
CHINESE = ROOT / "docs" / "zh" / "formats.md"
SAMPLES = ROOT / "sample_traces" / "formats"

HEADS = {
    "start": "start", "runs": "runs", "samples": "un-profiled", "types": "types",
    "shapes": "shapes", "dtypes": "dtypes", "flops": "FLOPs", "counters": "counters",
    "members": "members", "stream": "streams", "communication": "comm.", "sizes": "sizes",
    "peak_memory": "peak memory", "memory": "memory", "graph": "graph",
}  # fmt: skip


def mark(reader: Reader, field: str) -> str:
    switch = reader.fields.get(field)
    return "–" if switch is None else "●" if switch == ALWAYS else "○"


def section(reader: Reader) -> list[str]:
    """How to record the format, what each missing field needs, and what it covers."""
    lines = [f"## {reader.title}", "", reader.recording, ""]
    switches: dict[str, list[str]] = {}
    for field in FIELDS:
        if reader.fields.get(field):
            switches.setdefault(reader.fields[field], []).append(FIELD_LABELS[field].text())
    lines += [f"- {', '.join(labels)}: {switch}" for switch, labels in switches.items()]
    if reader.covers:
        titles = [one.title for one in READERS if one.name in reader.covers]
        lines.append(
            "- When such a file is there, FuseScope does not use these, which contain less: "
            f"{'; '.join(titles)}."
        )
    return [*lines, ""] if lines[-1] else lines


def expected() -> str:
    lines = [
        "# Formats",
        "",
        "[简体中文](zh/formats.md)",
        "",
        "FuseScope recognises a file by its content, never by its name. Give it a file (plain, or",
        "packed with gzip or zstd), several files of one recording, a profiler's folder, or a zip",
        "or tar of one; the [FAQ](faq.md#which-file-do-i-give-for) has what is refused. It counts",
        "what it drops or repairs. `fusescope inspect FILE` says which figures a file allows,",
        "which it does not allow, and how to record what is missing. A report of FuseScope opens,",
        "too: it holds what it was made of ([report.md](report.md#opening-it-again)).",
        "",
        "● every such file has it; ○ it depends on how it was recorded (see below); – never. The",
        "most specific format comes first.",
        "",
        f"| format | in JSON | {' | '.join(HEADS[field] for field in FIELDS)} |",
        f"|---|---|{'---|' * len(FIELDS)}",
    ]
    for reader in READERS:
        marks = " | ".join(mark(reader, field) for field in FIELDS)
        lines.append(f"| {reader.title} | `{reader.name}` | {marks} |")
    columns = [
        f"*{HEADS[field]}* {FIELD_LABELS[field].text()}"
        for field in FIELDS
        if HEADS[field] != FIELD_LABELS[field].text()
    ]
    lines += ["", f"What the columns mean: {'; '.join(columns)}.", ""]
    for reader in READERS:
        lines += section(reader)
    return "\n".join(lines).rstrip() + "\n"


def test_the_page_is_that_of_the_readers(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(expected(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == expected(), "make test ARGS=--update-golden"


def in_chinese(text: str, there: str) -> str:
    """The catalogue's Chinese for a text; what the page has where the catalogue has none."""
    with language.speaking("zh"):
        told = language.translated(text)
    return there if told == text else told


def expected_in_chinese(page: str) -> str:
    """The page with the catalogue's titles and switches wherever the catalogue has them."""
    sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    titles: dict[str, str] = {}
    for number, reader in enumerate(READERS, start=1):
        heading = sections[number].splitlines()[0].removeprefix("## ")
        titles[heading] = in_chinese(reader.title, heading)
        switches = dict.fromkeys(filter(None, (reader.fields.get(field) for field in FIELDS)))
        lines = re.findall(r"^- (.*?)：(.*)$", sections[number], re.MULTILINE)
        for switch, (fields_there, there) in zip(switches, lines, strict=False):
            sections[number] = sections[number].replace(
                f"- {fields_there}：{there}", f"- {fields_there}：{in_chinese(switch, there)}"
            )
    page = "".join(sections)
    for title in sorted(titles, key=len, reverse=True):
        page = page.replace(title, titles[title])
    return page


@pytest.mark.usefixtures("translations")
def test_the_chinese_page_is_that_of_the_catalogue(request: pytest.FixtureRequest) -> None:
    page = CHINESE.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        page = expected_in_chinese(page)
        CHINESE.write_text(page, encoding="utf-8")
    assert page == expected_in_chinese(page), "make test ARGS=--update-golden"


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_declarations_are_complete(reader: Reader) -> None:
    assert reader.fields and set(reader.fields) <= set(FIELDS)
    assert len(reader.recording) > 20
    for switch in filter(None, reader.fields.values()):
        assert switch[0].isupper() and switch.endswith("."), "a switch is a sentence"


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_sample_has_what_its_reader_declares(reader: Reader) -> None:
    folder = SAMPLES / reader.name
    if reader.name == "experiment":
        folder = ROOT / "sample_traces" / "mobilenetv2.zip"
    found = {name for name, is_there in fields(read_path(folder)).items() if is_there}
    assert found and found <= set(reader.fields), "has more than the reader declares"
    always = {name for name, switch in reader.fields.items() if switch == ALWAYS}
    assert always <= found, "lacks what the reader declares"
