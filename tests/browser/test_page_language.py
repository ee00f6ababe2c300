"""The pages in another language, as a browser shows them: what is read, and the switch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from playwright.sync_api import Page, expect

from fusescope.app.sources import places
from tests.app.test_language_pages import names
from tests.brackets import is_told, names_in, outside
from tests.browser.dashboard import open_part, quiet, turn_to, wait_idle
from tests.browser.serving import SERVE, SERVES_AT, free_port, started

# Everything on the page that is read or read out, block by block: [text, is an attribute]. Not
# Streamlit's uploader, menu and toolbars, which speak English only; nor code, keys, icons, and the
# cells of tables, which tests/app/test_language_pages.py reads.
READ = """() => {
  const ICON = "[aria-hidden=true][translate=no]";  // whose text is its name
  const NOT_OURS = "[data-testid=stFileUploaderDropzone],[data-testid=stMainMenu]," +
    "[data-testid=stElementToolbar],[data-testid=stStatusWidget],[data-testid=stSkipToContent]," +
    "[data-testid=stSkeleton],[data-live-announcer],[role=img]:not(svg)," +
    "code,kbd,pre,script,style,noscript,canvas," + ICON;
  const INLINE = new Set("A B BDI BR CODE EM I KBD SMALL SPAN STRONG TSPAN".split(" "));
  const found = [];
  const hasText = (node) => [...node.childNodes].some((one) => one.nodeType === Node.TEXT_NODE);
  const isLine = (node) => (hasText(node) || node.matches(".sentence")) &&
    [...node.querySelectorAll("*")].every((child) => INLINE.has(child.tagName.toUpperCase()));
  const visit = (node) => {
    if (node.matches(NOT_OURS)) return;
    for (const name of ["title", "aria-label", "placeholder", "alt"]) {
      if (node.getAttribute(name)) found.push([node.getAttribute(name), true]);
    }
    if (isLine(node)) {
      const line = node.cloneNode(true);
      line.querySelectorAll("[role=img],code,kbd," + ICON).forEach((icon) => icon.remove());
      found.push([line.textContent, false]);
    } else {
      for (const child of node.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) found.push([child.textContent, false]);
      }
    }
    for (const child of [...(node.shadowRoot?.children ?? []), ...node.children]) {
      if (!isLine(node) || child.matches("[title],[aria-label]")) visit(child);
    }
  };
  visit(document.body);
  found.push([document.title, false]);
  return found;
}"""


@pytest.fixture
def pseudo_url(pseudo: Path, tmp_path: Path, allowed_origins: set[str]) -> Iterator[str]:
    """A dashboard that also speaks the language "pseudo"."""
    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        address = server.wait_for(SERVES_AT)
        allowed_origins.add(f"{address}/")
        yield address


@cache
def streamlits() -> str:
    """Streamlit's own scripts: what its controls are called stands in them, in English only."""
    folder = Path(st.__file__).parent / "static"
    return " ".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.js"))


@cache
def is_streamlits(text: str) -> bool:
    """True for a name of one of Streamlit's controls, as 'Help for ⟦…⟧' or 'Remove fused'."""
    words = outside(text).split()
    return any(
        " ".join(words[:end]) in streamlits() and all(word in known() for word in words[end:])
        for end in range(1, len(words) + 1)
    )


@cache
def known() -> str:
    sample = (places.SAMPLES / f"{places.FIRST_SAMPLE}.zip").read_bytes()
    return f"{names()} {names_in(sample)}"


def untold(page: Page) -> set[str]:
    """What is read on the page and stands outside brackets."""
    return {
        text
        for text, is_attribute in page.evaluate(READ)
        if not is_told(text, known()) and not (is_attribute and is_streamlits(text))
    }


@pytest.mark.exhaustive  # tests/app/test_language_pages.py has every text
def test_the_switch_and_every_page_in_another_language(page: Page, pseudo_url: str) -> None:
    page.goto(f"{pseudo_url}/compare")
    switch = page.locator(".st-key-language_switch")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("faster")
    wait_idle(page)
    open_part(page, "times")
    page.get_by_role("radio", name="Classes").click()
    wait_idle(page)
    before = page.url
    switch.get_by_role("combobox").click()
    page.get_by_role("option", name="⟦English⟧").click()
    expect(page.get_by_role("button", name="⟦Swap⟧")).to_be_visible()
    wait_idle(page)
    assert page.url == f"{before}&lang=pseudo"
    assert page.evaluate("document.documentElement.lang") == "pseudo"
    chosen = page.get_by_role("radio", name="⟦Classes⟧")
    expect(chosen).to_be_checked()
    assert untold(page) == set()
    for name in ("Library", "Trace", "Recipes", "Record"):
        turn_to(page, f"⟦{name}⟧", "⟦New⟧", "⟦More⟧")
        wait_idle(page)
        assert "lang=pseudo" in page.url
        assert untold(page) == set(), name
    turn_to(page, "⟦Start⟧")
    expect(page.get_by_role("button", name="⟦Choose files⟧")).to_be_visible()
    page.get_by_role("link", name="⟦Compare⟧", exact=True).first.click()
    expect(page.get_by_role("button", name="⟦Swap⟧")).to_be_visible()
    assert "lang=pseudo" in page.url and "candidate=" in page.url
    assert quiet(page)
