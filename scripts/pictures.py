"""Pictures of the pages for the documentation: `make pictures`, or only ARGS="NAME …".

The samples are shown by the dashboard itself in the system's Chromium, at one size and in one
theme, so that the same pages give the same pictures. Few colours keep the files small.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import chromium
from tests.browser.dashboard import wait_idle
from tests.browser.serving import SERVE, SERVES_AT, free_port, started

FOLDER = ROOT / "docs" / "images"
MAX_BYTES = 150_000  # of each; tests/docs/test_site.py looks
COLOURS = 128
TALL = 5000  # px: nothing has to be scrolled
MARGIN = 14  # px around what is cut out
SAMPLE = "sample_traces/mobilenetv2.zip"
LAYOUT_ONLY = (
    "baseline=sample:mobilenetv2/unfused&candidate=sample:mobilenetv2/only:NchwcTransformer"
)
# Streamlit stands still before its charts are there.
DRAWN = """() => !document.querySelector("[data-testid='stSkeleton']")
  && [...document.querySelectorAll("[data-testid='stPlotlyChart']")]
    .every((chart) => chart.querySelector(".main-svg"))"""


@dataclass(frozen=True)
class Picture:
    """A part of a page, from the heading `first` to the heading `until`, both left out for the
    whole first `height` px; the text `press` is clicked before it is taken."""

    address: str
    first: str = ""
    until: str = ""
    height: int = 0
    width: int = 1000
    scale: float = 1.4
    language: str = "en"
    press: str = ""


REPORT = "report"  # an address: the HTML report in place of a page of the dashboard
PICTURES = {
    "compare-light": Picture("", height=1340, width=1440, scale=1),
    "compare-light-zh": Picture("", height=1340, width=1440, scale=1, language="zh"),
    "fusion-light": Picture("fusion", height=1250, width=1440, scale=1),
    "fusion-light-zh": Picture("fusion", height=1250, width=1440, scale=1, language="zh"),
    "tutorial-verdict": Picture("", height=640),
    "tutorial-time": Picture("", "Where the time of a run goes", until="What limits fused now"),
    "tutorial-findings": Picture(
        "", "What limits fused now", until="What fusion bought, by pattern", height=560
    ),
    "tutorial-waterfall": Picture("fusion", "From baseline to candidate", until="Timelines"),
    "tutorial-flow": Picture("fusion", "Timelines", until="Ledger"),
    "tutorial-group": Picture("fusion?group=4", "Ledger", until="Why not fused", height=900),
    "tutorial-missed": Picture(
        f"fusion?{LAYOUT_ONLY}", "Why not fused", until="What each optimizer brings", height=420
    ),
    "tutorial-try": Picture("", height=750, press="Try it"),
    "tutorial-report": Picture(REPORT, height=760),
    "page-trace": Picture(
        "trace?trace=sample:mobilenetv2/unfused", "Where the time goes", until="Timeline"
    ),
    "page-variants": Picture("variants", height=900),
    "page-recipe": Picture("recipes?recipe=conv3x3", height=900),
    "page-releases": Picture("releases", "1.20.1", height=940),
}

# The Chinese pages have their own pictures: what they begin and end with, and what is clicked.
CHINESE = {
    "": "",
    "Where the time of a run goes": "一次运行的时间花在哪里",
    "What limits fused now": "fused 目前受限于什么",
    "What fusion bought, by pattern": "融合带来了什么",
    "From baseline to candidate": "从基线到候选",
    "Timelines": "时间线",
    "Ledger": "融合账本",
    "Why not fused": "未融合原因",
    "What each optimizer brings": "各图优化器的价值",
    "Try it": "尝试",
    "Where the time goes": "时间花在哪里",
    "Timeline": "时间线",
    "1.20.1": "1.20.1",
}


def _in_chinese(picture: Picture) -> Picture:
    return replace(
        picture,
        first=CHINESE[picture.first],
        until=CHINESE[picture.until],
        press="简体中文" if picture.address == REPORT else CHINESE[picture.press],
        # Text is shorter: the next line of the Record page names a folder of this machine.
        height=662 if picture.press else picture.height,
        language="zh",
    )


PICTURES |= {
    f"{name}-zh": _in_chinese(picture)
    for name, picture in PICTURES.items()
    if name.startswith(("tutorial-", "page-"))
}


def main(arguments: list[str]) -> int:
    """Exit code 0 when every picture that was asked for is in place."""
    parser = argparse.ArgumentParser(prog="make pictures", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="pictures; default: all")
    wanted = parser.parse_args(arguments).names or list(PICTURES)
    unknown = [name for name in wanted if name not in PICTURES]
    if unknown:
        print(f"There is no picture '{unknown[0]}'. Known: {', '.join(PICTURES)}.", file=sys.stderr)
        return 2
    if not subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=True).stdout:
        print("No font has Chinese characters: install fonts-noto-cjk.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        report = folder / "report.html"
        subprocess.run(
            [*SERVE[:-2], "compare", SAMPLE, "--html", str(report)],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=chromium.ARGS)
        with started([*SERVE, f"--port={free_port()}"], folder) as server:
            dashboard = server.wait_for(SERVES_AT)
            for name in wanted:
                picture = PICTURES[name]
                is_report = picture.address == REPORT
                address = report.as_uri() if is_report else f"{dashboard}/{picture.address}"
                taken = _small(_taken(browser, picture, address))
                print(f"{name}: {len(taken) / 1000:.0f} kB", flush=True)
                if len(taken) > MAX_BYTES:
                    print(f"{name} is too large: show less of the page.", file=sys.stderr)
                    return 2
                (FOLDER / f"{name}.png").write_bytes(taken)
        browser.close()
    return 0


def _taken(browser: Browser, picture: Picture, address: str) -> bytes:
    page = browser.new_page(
        viewport={"width": picture.width, "height": TALL},
        device_scale_factor=picture.scale,
        color_scheme="light",
        locale=picture.language,
    )
    page.goto(address)
    _settle(page)
    if picture.press:
        page.get_by_text(picture.press, exact=True).first.click()
        _settle(page)
    top = _above(page, picture.first) if picture.first else 0.0
    ends = [top + picture.height] if picture.height else []
    ends += [_above(page, picture.until)] if picture.until else []
    clip = {"x": 0, "y": top, "width": picture.width, "height": min(ends) - top}
    image = page.screenshot(clip=clip)
    page.close()
    return image


def _settle(page: Page) -> None:
    page.get_by_role("heading").first.wait_for(timeout=60_000)
    if page.get_by_test_id("stApp").count():
        wait_idle(page)
        page.wait_for_function(DRAWN, timeout=60_000)
    page.mouse.move(1, 1)
    page.wait_for_timeout(700)  # charts fade in


def _above(page: Page, heading: str) -> float:
    """Where the part begins that has this heading, with a margin, in px."""
    found: Locator = page.get_by_role("heading", name=re.compile(f"^{re.escape(heading)}")).first
    box = found.bounding_box(timeout=20_000)
    assert box is not None, heading
    return max(0.0, box["y"] - MARGIN)


def _small(png: bytes) -> bytes:
    """The same picture with few colours."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    few = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    out = io.BytesIO()
    few.save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
