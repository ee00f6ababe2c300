"""What axe-core has against a page, and how far its content moved while it loaded."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Layout shift as web vitals count it, without what follows a click: for add_init_script.
WATCH_SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
MAX_SHIFT = 0.1
_LOADS = 3
# Streamlit's own markup, which no setting changes: (rule, part of the element).
NOT_OURS = (
    ("presentation-role-conflict", "stFileUploaderDropzone"),
    ("empty-table-header", 'aria-colindex="1"'),  # of the column of boxes that pick a row
)


def stands_still(page: Page) -> bool:
    """Whether the page's content moved little as it loaded.

    On a busy machine parts arrive in any order, so one load may be an unlucky one: a page that
    moves by itself moves in each of three.
    """
    for _ in range(_LOADS - 1):
        if page.evaluate("window.shifted") < MAX_SHIFT:
            return True
        page.reload()
        page.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']")
        page.get_by_role("heading", level=2).first.wait_for()
        page.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']")
    return bool(page.evaluate("window.shifted") < MAX_SHIFT)


def violations(page: Page, *rules: str) -> list[str]:
    """Every violation that axe-core finds, of these rules or of all, as rule and element."""
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {node['failureSummary']} {node['html'][:200]}"
        for rule in found
        for node in rule["nodes"]
        if not any(rule["id"] == name and part in node["html"] for name, part in NOT_OURS)
    ]
