"""Pictures of the pages for the documentation: `make pictures`, or only ARGS="NAME …".

The samples are shown by the dashboard itself in the system's Chromium, at one size and in one
theme, so that the same pages give the same pictures. Few colours keep the files small.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import fleet_job
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
    whole first `height` px; the text `press` is clicked before it is taken, and where that begins
    a recording, `shows` is a button that is there while it runs."""

    address: str
    first: str = ""
    until: str = ""
    height: int = 0
    width: int = 1000
    scale: float = 1.4
    language: str = "en"
    press: str = ""
    shows: str = ""
    is_stocked: bool = False  # of a dashboard with a library and a store of ranks


REPORT = "report"  # an address: the HTML report in place of a page of the dashboard
PICTURES = {
    "compare-light": Picture("compare", height=1340, width=1440, scale=1),
    "compare-light-zh": Picture("compare", height=1340, width=1440, scale=1, language="zh"),
    "fusion-light": Picture(
        "compare?groups=true", "From baseline to candidate", height=1250, width=1440, scale=1
    ),
    "fusion-light-zh": Picture(
        "compare?groups=true", "从基线到候选", height=1250, width=1440, scale=1, language="zh"
    ),
    "tutorial-verdict": Picture("compare", height=640),
    "tutorial-time": Picture(
        "compare?times=true", "Where the time of a run goes", until="Op types, classes and modules"
    ),
    "tutorial-findings": Picture("compare?limits=true", "What limits fused now", height=560),
    "tutorial-waterfall": Picture(
        "compare?groups=true", "From baseline to candidate", until="Timelines of the groups"
    ),
    "tutorial-flow": Picture("compare?groups=true", "Timelines of the groups", until="Ledger"),
    "tutorial-group": Picture(
        "compare?groups=true&group=4", "Ledger", until="Why not fused", height=900
    ),
    "tutorial-missed": Picture(
        f"compare?groups=true&{LAYOUT_ONLY}",
        "Why not fused",
        until="What each optimizer brings",
        height=420,
    ),
    "tutorial-try": Picture("compare?limits=true", height=750, press="Try it", shows="Stop"),
    "tutorial-report": Picture(REPORT, height=760),
    "page-trace": Picture(
        "trace?trace=sample:mobilenetv2/unfused", "Where the time goes", until="Timeline"
    ),
    "page-variants": Picture("compare?several=true", "fused is the fastest", height=900),
    "page-engines": Picture("engines", height=1000, width=1200, scale=1.2),
    "page-recipe": Picture("recipes?recipe=conv3x3", height=900),
    "page-releases": Picture("releases", "1.20.1", height=940),
    "page-library": Picture("library", height=600, width=1200, scale=1.2, is_stocked=True),
    "page-fleet": Picture("fleet", height=1150, is_stocked=True),
}
# What stands in the library: recordings, and traces with their tags and notes.
RECORDINGS = ("mobilenetv2.zip", "resnet50.zip")
TRACES = (
    "kineto/worker0.pt.trace.json",
    "nsys_db/report1.sqlite",
    "ascend_trace_view/trace_view.json",
    "onnxruntime/profile.json",
)
TAGGED = (("report1.sqlite", "nightly", "Before the new drivers."), ("resnet50.zip", "release", ""))
# A job with one slow rank, one rank without a fusion and one file cut short.
JOB = fleet_job.Job(nodes=2, devices=4, steps=4, slow=5, unfused=3, truncated=6)
LIBRARY = Path(tempfile.gettempdir()) / "fusescope-library"  # the page names it

# The Chinese pages have their own pictures: what they begin and end with, and what is clicked.
CHINESE = {
    "": "",
    "Where the time of a run goes": "一次运行的时间花在哪里",
    "What limits fused now": "fused 目前受限于什么",
    "From baseline to candidate": "从基线到候选",
    "Timelines of the groups": "各组的时间线",
    "Op types, classes and modules": "算子类型、类别和模块",
    "fused is the fastest": "fused 是",
    "Ledger": "融合账本",
    "Why not fused": "未融合原因",
    "What each optimizer brings": "各图优化器的价值",
    "Try it": "尝试",
    "Stop": "停止",
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
        shows=CHINESE[picture.shows],
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
        os.environ["FUSESCOPE_LIBRARY"] = str(LIBRARY)  # not the user's own
        shutil.rmtree(LIBRARY, ignore_errors=True)
        subprocess.run(
            [*SERVE[:-2], "compare", SAMPLE, "--html", str(folder / "report.html")],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=chromium.ARGS)
        for is_stocked in (False, True):
            names = [
                name
                for name in wanted
                if PICTURES[name].is_stocked == is_stocked and not PICTURES[name].shows
            ]
            if names and not _take(browser, names, folder, _stock(folder) if is_stocked else []):
                return 2
        # A recording would be seen on other pages, so each has a dashboard and a folder of its own.
        for name in wanted:
            own = folder / name
            if PICTURES[name].shows:
                own.mkdir()
                if not _take(browser, [name], own, []):
                    return 2
        browser.close()
        shutil.rmtree(LIBRARY, ignore_errors=True)
    return 0


def _take(browser: Browser, names: Sequence[str], folder: Path, given: Sequence[str]) -> bool:
    """Put pictures in place, of a dashboard that is given these paths; False where one is too
    large."""
    with started([*SERVE, f"--port={free_port()}", *given], folder) as server:
        dashboard = server.wait_for(SERVES_AT)
        for name in names:
            picture = PICTURES[name]
            is_report = picture.address == REPORT
            report = folder / "report.html"
            address = report.as_uri() if is_report else f"{dashboard}/{picture.address}"
            taken = _small(_taken(browser, picture, address))
            print(f"{name}: {len(taken) / 1000:.0f} kB", flush=True)
            if len(taken) > MAX_BYTES:
                print(f"{name} is too large: show less of the page.", file=sys.stderr)
                return False
            (FOLDER / f"{name}.png").write_bytes(taken)
    return True


def _stock(folder: Path) -> list[str]:
    """Fill the library, and ingest the ranks of a job; the store of these."""
    samples = ROOT / "sample_traces"
    (folder / "recordings").mkdir(exist_ok=True)
    for name in RECORDINGS:
        shutil.copyfile(samples / name, folder / "recordings" / name)
    fleet_job.write(JOB, folder / "job")
    store = str(folder / "store")
    verbs = [["library", "add", *(str(samples / "formats" / name) for name in TRACES)]]
    for name, tag, note in TAGGED:
        verbs += [["library", "tag", name, tag], ["library", "note", name, note]]
    verbs.append(["ingest", str(folder / "job"), "--to", store])
    env = {**os.environ, "FUSESCOPE_RECORDINGS": str(folder / "recordings")}
    for verb in verbs:
        command = [*SERVE[:-2], *verb]
        subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
    return [store]


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
    if picture.shows:
        page.get_by_role("button", name=picture.shows).first.wait_for(timeout=60_000)
        page.wait_for_timeout(700)
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
