"""`make validate-cache`: the cache model against cachegrind, written to docs/cache-model.md.

Every net of `cache_cases` runs in one thread under a simulated cache, whose counters are read on
the way, so that neither the start of the process nor the reading is in the result. `cache_use`
predicts the same from the net's graph.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

import onnx
import onnxruntime as ort

from benchmarks.cache_cases import LAST_LEVEL_BYTES, Case, cases
from fusescope.analysis import units
from fusescope.analysis.metrics.cache_use import cache_use
from fusescope.collectors.models.graphs import from_model
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cache-model.md"
DATA = ROOT / "docs" / "cache-model.json"
TEXT = Path(__file__).with_name("cache_model.md")
RUNS = (2, 3, 7)  # counters are read after each
LINE_BYTES = 64
FIRST_LEVEL = "32768,8,64"
LAST_LEVEL = f"{LAST_LEVEL_BYTES},16,64"
CLOSE = 0.10
_COUNTERS = 9  # Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
_READ_MISSES, _WRITE_MISSES = 5, 8


@dataclass(frozen=True)
class Row:
    """One case, in bytes per run: what the model says, and what the simulated cache missed."""

    operators: str
    size: str
    touched: int
    predicted: int
    read: float
    written: float

    @property
    def simulated(self) -> float:
        """Data that missed the last level, reads and writes."""
        return self.read + self.written

    @property
    def error(self) -> float | None:
        """predicted / simulated - 1; None where no miss is predicted."""
        return self.predicted / self.simulated - 1 if self.predicted else None

    @property
    def misjudged(self) -> float:
        """(predicted - simulated) / touched: the part of all moved bytes that is told wrong."""
        return (self.predicted - self.simulated) / self.touched


def main() -> None:
    """Simulates every case and writes the page; exit code 2 where that is not possible."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print(
            "There is no valgrind on this machine, and cachegrind, which simulates the cache, is "
            "part of it: install valgrind (Debian, Ubuntu: apt install valgrind) and try again.",
            file=sys.stderr,
        )
        sys.exit(2)
    chosen = list(cases())
    with tempfile.TemporaryDirectory(prefix="fusescope-cache-") as name:
        try:
            counters = _simulate(valgrind, chosen, Path(name))
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            print(f"The simulation failed: {error}.", file=sys.stderr)
            sys.exit(2)
    rows = [_row(case, counters[case.name]) for case in chosen]
    setting = {
        "valgrind": _version(valgrind),
        "engine": f"onnxruntime {ort.__version__}",
        "last_level": LAST_LEVEL,
        "first_level": FIRST_LEVEL,
        "runs": list(RUNS),
    }
    DATA.write_text(json.dumps(data(setting, rows), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(json.loads(DATA.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"{summary(rows)}\nWritten to {PAGE.relative_to(ROOT)}.")


def predict(case: Case) -> tuple[int, int]:
    """Bytes that miss and bytes touched per run, by the model."""
    graph = from_model(onnx.shape_inference.infer_shapes(case.model()))
    use = cache_use(graph, LAST_LEVEL_BYTES)
    return use.missed_bytes, use.touched_bytes


def per_run(counters: Sequence[list[int]]) -> tuple[float, float]:
    """Bytes per run that missed the last level, read and written.

    `counters` are those after each of RUNS: the second step has more runs than the first, and both
    cost as much to read, so their difference is what the further runs missed.
    """
    first, second, third = counters
    runs = (RUNS[2] - RUNS[1]) - (RUNS[1] - RUNS[0])
    read, written = (
        ((third[at] - second[at]) - (second[at] - first[at])) * LINE_BYTES / runs
        for at in (_READ_MISSES, _WRITE_MISSES)
    )
    return read, written


def counters_of(text: str) -> list[int]:
    """The totals of a cachegrind file. Raises ValueError when it has none."""
    for line in text.splitlines():
        if line.startswith("summary:"):
            counters = [int(word) for word in line.split()[1:]]
            if len(counters) == _COUNTERS:
                return counters
    raise ValueError("a file of cachegrind has no totals")


def _row(case: Case, counters: list[list[int]]) -> Row:
    predicted, touched = predict(case)
    read, written = per_run(counters)
    return Row(case.operators, case.size, touched, predicted, read, written)


def _simulate(valgrind: str, chosen: list[Case], folder: Path) -> dict[str, list[list[int]]]:
    """Counters by case, after each of RUNS: one process that forks for each."""
    orders = []
    for number, case in enumerate(chosen):
        path = folder / f"{number}.onnx"
        onnx.save(case.model(), path)
        orders.append(
            {
                "name": case.name,
                "model": str(path),
                "inputs": case.inputs,
                "outputs": case.outputs,
                "runs": RUNS,
                "providers": PROVIDERS,
            }
        )
    (folder / "cases.json").write_text(json.dumps(orders), encoding="utf-8")
    subprocess.run(
        [
            valgrind, "--tool=cachegrind", f"--I1={FIRST_LEVEL}", f"--D1={FIRST_LEVEL}",
            f"--LL={LAST_LEVEL}", f"--cachegrind-out-file={folder}/counters.%p",
            f"--log-file={folder}/log.%p", sys.executable, "-P",
            str(Path(__file__).with_name("cache_worker.py")), str(folder / "cases.json"),
            str(folder / "children.json"),
        ],
        check=True,
    )  # fmt: skip
    found: dict[str, list[list[int]]] = {}
    for child in json.loads((folder / "children.json").read_text(encoding="utf-8")):
        if child["status"] or len(child["pids"]) != len(RUNS):
            raise ValueError(f"'{child['case']}' ended with status {child['status']}")
        texts = [(folder / f"counters.{pid}").read_text(encoding="utf-8") for pid in child["pids"]]
        found[child["case"]] = [counters_of(text) for text in texts]
    return found


def _version(valgrind: str) -> str:
    done = subprocess.run([valgrind, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def data(setting: dict[str, object], rows: list[Row]) -> dict[str, object]:
    """docs/cache-model.json: the setting, and every case in bytes per run."""
    return {
        "setting": setting,
        "cases": [
            {
                "operators": row.operators,
                "size": row.size,
                "touched_bytes": row.touched,
                "predicted_bytes": row.predicted,
                "read_bytes": row.read,
                "written_bytes": row.written,
            }
            for row in rows
        ],
    }


def rows_of(values: dict[str, object]) -> list[Row]:
    """The rows of docs/cache-model.json."""
    found = values["cases"]
    assert isinstance(found, list)
    return [
        Row(
            case["operators"], case["size"], case["touched_bytes"], case["predicted_bytes"],
            case["read_bytes"], case["written_bytes"],
        )
        for case in found
    ]  # fmt: skip


def summary(rows: list[Row]) -> str:
    """Median error where misses are predicted, how many are close, and the rest."""
    missing = [row for row in rows if row.error is not None]
    errors = [abs(row.error) for row in missing if row.error is not None]
    close = sum(error <= CLOSE for error in errors)
    fitting = [row for row in rows if row.error is None]
    shares = [abs(row.misjudged) for row in fitting]
    within = sum(share <= CLOSE for share in shares)
    return (
        f"{len(rows)} cases. Where misses are predicted ({len(missing)}): median error "
        f"{units.percent(statistics.median(errors))}, {close} within {units.percent(CLOSE)}. Where "
        f"everything should stay in the cache ({len(fitting)}): simulated misses are "
        f"{units.percent(statistics.median(shares))} of the bytes touched in the median, {within} "
        f"within {units.percent(CLOSE)}."
    )


def page(values: dict[str, object]) -> str:
    """docs/cache-model.md from docs/cache-model.json."""
    rows = rows_of(values)
    setting = values["setting"]
    assert isinstance(setting, dict)
    first, second, third = setting["runs"]
    return Template(TEXT.read_text(encoding="utf-8")).substitute(
        first=second - first,
        second=third - second,
        runs=(third - second) - (second - first),
        summary=summary(rows),
        setting=(
            f"{setting['valgrind']}, {setting['engine']} without optimisation; last level "
            f"{setting['last_level']} (bytes, ways, bytes of a line), first level "
            f"{setting['first_level']}."
        ),
        table="\n".join(_line(row) for row in rows),
    )


def _line(row: Row) -> str:
    error = units.MISSING if row.error is None else units.percent(row.error, signed=True)
    sizes = (units.data_size(size) for size in (row.touched, row.predicted, row.simulated))
    misjudged = units.percent(row.misjudged, signed=True)
    return f"| {row.operators} | {row.size} | {' | '.join(sizes)} | {error} | {misjudged} |"


if __name__ == "__main__":
    main()
