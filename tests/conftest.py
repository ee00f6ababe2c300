"""Fixtures that more than one folder of tests uses, and the rule that CI skips no browser test."""

from __future__ import annotations

import gc
import json
import os
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

# Before NumPy loads: its threads spin where files of tests run side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No test keeps what it reads in the library of whoever runs it, or finds what was recorded there.
os.environ["FUSESCOPE_LIBRARY"] = "off"
os.environ["XDG_DATA_HOME"] = str(Path(tempfile.gettempdir()) / f"fusescope-tests-{os.getpid()}")

import hypothesis
import pytest

import fusescope.collectors  # noqa: F401 - no test's engine sends or writes telemetry either
from fusescope.analysis.messages import language

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
BROWSER_TESTS = ROOT / "tests" / "browser"
ENGINE_TESTS = ROOT / "tests" / "engines"
WHEEL_TESTS = ROOT / "tests" / "wheel"
SLOW = ("browser", "collectors", "security", "compare", "app")  # with the slowest file first
SHARED_TRACES = ROOT.parent / "shared" / "traces"

TRANSLATIONS = language.FOLDER

# A deadline is an assertion on absolute time: on a busy machine it fails for no reason.
hypothesis.settings.register_profile("short", deadline=None, max_examples=25)
hypothesis.settings.register_profile("exhaustive", deadline=None, max_examples=120)


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts the tests behind itself, or nohup, lets them ignore signals, and so would
    # all that they start; tests of interruption must not depend on that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    is_exhaustive = config.getoption("--exhaustive")
    hypothesis.settings.load_profile("exhaustive" if is_exhaustive else "short")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite tests/golden/ with what the code gives now; read the diff before you commit",
    )
    parser.addoption(
        "--exhaustive",
        action="store_true",
        help="run the tests marked `exhaustive`, and properties again with more examples, and no "
        "others; without it, only those run that are not marked",
    )
    parser.addoption(
        "--part",
        metavar="K/N",
        default="1/1",
        help="run the tests of every N-th file alone, from the K-th on: the N parts are all tests",
    )
    parser.addoption(
        "--engines", action="store_true", help="run tests/engines, which add engines for real"
    )
    parser.addoption(
        "--wheel", action="store_true", help="run tests/wheel, which install the wheel for real"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests that fetch packages run where they are asked for only, whatever path is in ARGS."""
    is_there = {
        "--engines": collection_path.is_relative_to(ENGINE_TESTS),
        "--wheel": collection_path.is_relative_to(WHEEL_TESTS),
    }
    left_out = any(is_it and not config.getoption(name) for name, is_it in is_there.items())
    return True if left_out else None


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores where tests wait for pages and recordings; 4 at most, as every
    worker has a dashboard and a browser of its own."""
    folders = [Path(argument).resolve() for argument in config.args]
    waits = not all(folder.is_relative_to(ROOT / "tests" / "compare") for folder in folders)
    return min(4, (os.cpu_count() or 1) + waits)


def pytest_collection_finish() -> None:
    """What is imported by now stays: the search for garbage need not go through it each time, nor
    as often as where memory is short."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


# Not `-m "not exhaustive"` in addopts: a -m of the caller's own would replace it.
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    exhaustive = config.getoption("--exhaustive")
    chosen: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        is_marked = item.get_closest_marker("exhaustive") is not None
        is_again = exhaustive and hypothesis.is_hypothesis_test(getattr(item, "obj", None))
        (chosen if is_marked == exhaustive or is_again else others).append(item)
    number, of = map(int, config.getoption("--part").split("/"))
    files = set(sorted({item.path for item in chosen})[number - 1 :: of])
    others += [item for item in chosen if item.path not in files]
    chosen = [item for item in chosen if item.path in files]
    if others:
        config.hook.pytest_deselected(items=others)
    # Files run side by side: where a slow one came last, all other cores would wait for it.
    items[:] = sorted(chosen, key=lambda item: _turn(item.path))


@cache
def _turn(path: Path) -> int:
    folders = path.relative_to(ROOT).parts[1:-1] if path.is_relative_to(ROOT) else ()
    return SLOW.index(folders[0]) if folders and folders[0] in SLOW else len(SLOW)


def rounded(value: Any) -> Any:
    """`value` with floats at 6 significant digits and NumPy scalars as plain numbers."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}") + 0.0  # + 0.0: no negative zero
    return value


def canonical(value: Any) -> str:
    """JSON text that is the same for equal values: keys sorted, floats rounded, no NaN."""
    text = json.dumps(rounded(value), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text + "\n"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, Any], None]:
    """`golden("inspect/ort.json", value)` fails unless `value` equals tests/golden/<name>."""

    def check(name: str, value: Any) -> None:
        path = GOLDEN / name
        text = canonical(value)
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists():
            pytest.fail(f"no tests/golden/{name}: make it with `make test ARGS=--update-golden`")
        assert text == path.read_text(encoding="utf-8"), f"differs from tests/golden/{name}"

    return check


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    """Folder of profiler files that cannot be published; a test that needs it is skipped."""
    if not SHARED_TRACES.is_dir():
        pytest.skip("needs the collection of traces in ../shared/traces, which is not published")
    return SHARED_TRACES


def skipped_browser_is_failure(
    report: pytest.TestReport | pytest.CollectReport, is_browser: bool
) -> None:
    """Where FUSESCOPE_REQUIRE_BROWSER=1 (CI), a skip of a browser test becomes a failure."""
    required = os.environ.get("FUSESCOPE_REQUIRE_BROWSER") == "1"
    if required and is_browser and report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"a browser test was skipped where all must run: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    skipped_browser_is_failure(report, item.get_closest_marker("browser") is not None)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    skipped_browser_is_failure(report, collector.path.is_relative_to(BROWSER_TESTS))
    return report


@pytest.fixture(scope="session", autouse=True)
def english_only(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Reports are in every language that there is: of most tests, in English alone."""
    language.FOLDER = tmp_path_factory.mktemp("languages")


@pytest.fixture
def translations(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The languages that come with FuseScope; returns their folder."""
    monkeypatch.setattr(language, "FOLDER", TRANSLATIONS)
    language._read.cache_clear()
    yield TRANSLATIONS
    language._read.cache_clear()


@pytest.fixture(scope="session")
def pseudo_catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the language `pseudo`, whose every text stands in brackets."""
    from scripts import catalogue

    folder = tmp_path_factory.mktemp("pseudo")
    catalogue.pseudo(folder)
    return folder


@pytest.fixture
def pseudo(pseudo_catalogue: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The language `pseudo` beside English; returns its folder."""
    monkeypatch.setenv(language.FURTHER, str(pseudo_catalogue))
    language._read.cache_clear()
    yield pseudo_catalogue
    language._read.cache_clear()
