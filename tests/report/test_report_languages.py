"""The report in two languages: each shows its own page whole, and one page is in the file."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.messages import language
from fusescope.analysis.readers import read_path
from fusescope.analysis.readers.packed.report import DATA_ID
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.languages import in_every_language, in_languages
from tests.brackets import names_in, untold_words
from tests.report.test_html import of_experiment, of_profiles

ROOT = Path(__file__).resolve().parents[2]
VOID = {"meta", "link", "br", "wbr", "col", "input"}


class Shown(HTMLParser):
    """The text and the tooltips of a page where one language is shown, without the switch."""

    def __init__(self, page: str, code: str) -> None:
        super().__init__()
        self.code = code
        self.hidden = 0
        self.is_data = False
        self.texts: list[str] = []
        self.tooltips: list[str | None] = []
        self.ids: list[str | None] = []
        self.feed(page)
        self.text = re.sub(r"\s+", " ", "".join(self.texts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.is_data = found.get("id") == DATA_ID
        if "id" in found:
            self.ids.append(found["id"])
        is_other = (
            tag == "fieldset"
            or tag not in ("html", "label")
            and found.get("lang", self.code) != self.code
        )
        if tag not in VOID and (is_other or self.hidden):
            self.hidden += 1
        elif not self.hidden:
            self.tooltips += [
                found.get(f"data-{self.code}-{name}", found[name])
                for name in ("title", "aria-label")
                if name in found
            ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self.hidden:
            self.hidden -= 1

    def handle_data(self, data: str) -> None:
        if not self.hidden and not self.is_data and "{" not in data:
            self.texts.append(data)


def test_both_languages_are_in_the_file_and_each_is_whole(
    pseudo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for comparison in (of_experiment(), of_profiles()):
        both = report_html(comparison)
        alone = {}
        for code in ("en", "pseudo"):
            with monkeypatch.context() as patch, language.speaking(code):
                patch.setattr(language, "languages", lambda code=code: (code,))
                alone[code] = Shown(report_html(comparison), code)
        for code, page in alone.items():
            shown = Shown(both, code)
            assert shown.text == page.text
            assert shown.tooltips == page.tooltips
        assert len(alone["en"].ids) > 10 and len(Shown(both, "en").ids) == len(
            set(Shown(both, "en").ids)
        )


def test_the_chosen_language_is_first(pseudo: Path) -> None:
    with language.speaking("pseudo"):
        page = report_html(of_profiles())
    assert '<html lang="pseudo">' in page
    assert re.findall(r'value="(\w+)" id="in-\w+"( checked)?', page) == [
        ("pseudo", " checked"),
        ("en", ""),
    ]
    assert page.index("⟦Figures⟧") < page.index(">Figures<")


def test_one_language_has_no_switch() -> None:
    page = report_html(of_profiles())
    assert "in-en" not in page and " lang=" not in page.partition("<body>")[2]


TEXT = st.sampled_from(("one", "two", " ", "&lt;b&gt;", "a · b"))


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    """Well-formed HTML of a few elements."""
    pieces = []
    for _ in range(draw(st.integers(0, 3))):
        if depth and draw(st.booleans()):
            tag = draw(st.sampled_from(("p", "td", "text")))
            title = draw(st.sampled_from(("", ' title="x"', ' title="y"', ' class="c"')))
            pieces.append(f"<{tag}{title}>{draw(trees(depth=depth - 1))}</{tag}>")
        else:
            pieces.append(draw(TEXT) if draw(st.booleans()) else "<br>")
    return "".join(pieces)


@given(first=trees(), second=trees())
def test_whatever_differs_each_language_reads_as_before(first: str, second: str) -> None:
    pages = {"en": f"<main>{first}</main>", "zh": f"<main>{second}</main>"}
    both = in_languages(pages)
    for code, page in pages.items():
        wanted, found = Shown(page, code), Shown(both, code)
        assert "".join(found.texts) == "".join(wanted.texts)
        assert found.tooltips == wanted.tooltips
    assert in_languages({"en": pages["en"], "zh": pages["en"]}) == pages["en"]


@pytest.mark.parametrize(
    "sample",
    [pytest.param("mobilenetv2.zip", marks=pytest.mark.exhaustive), "recipes/depthwise.zip"],
)
def test_every_text_of_a_report_is_in_the_catalogue(sample: str, pseudo: Path) -> None:
    path = ROOT / "sample_traces" / sample
    with language.speaking("pseudo"):
        page = Shown(
            report_html(compare(*choose_sides(read_path(path), None, None, None))), "pseudo"
        )
    commands = "fusescope compare --candidate --html report.html"
    known = f"{names_in(path.read_bytes())} {path.name} {commands} SHA UTC False"
    text = " ".join(page.texts)
    assert text.count("⟦") > 300
    assert sorted(untold_words([text, *filter(None, page.tooltips)], known)) == []


def test_no_line_breaks_inside_an_arrow_of_a_name() -> None:
    """In text alone: attributes and scripts, titles of pages and pictures have no elements in them;
    what is escaped stays so."""
    name = "Memcpy HtoD (Pageable -&gt; Device)"
    kept = (
        f'<title>{name}</title><p title="{name}"></p><script>f = "{name}"</script>'
        f"<svg><text>{name}</text></svg>"
    )
    page = in_every_language(lambda _: f"{kept}<bdi>{name} &lt;b&gt;</bdi>")
    whole = name.replace("-&gt;", '<span class="unbroken">-&gt;</span>')
    assert page == f"{kept}<bdi>{whole} &lt;b&gt;</bdi>"
