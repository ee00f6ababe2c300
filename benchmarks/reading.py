"""One way to read one file, in a process of its own: `python -m benchmarks.reading WAY FILE`.

Prints CPU time, time and growth of memory as JSON, after what the way needs is loaded: what each
takes to start is measured in `commands`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Way = Callable[[Path], object]
_MIB = 1024 * 1024


def _bytes(_: Path) -> Way:
    return lambda path: path.read_bytes()


def _json(_: Path) -> Way:
    return lambda path: json.loads(path.read_bytes())


def _orjson(_: Path) -> Way:
    import orjson  # type: ignore[import-not-found]

    return lambda path: orjson.loads(path.read_bytes())


def _pandas(_: Path) -> Way:
    import pandas as pd

    return pd.read_csv


def _fusescope(_: Path) -> Way:
    from fusescope.analysis.readers import read_path

    _warm(read_path)
    return read_path


def _reopened(path: Path) -> Way:
    os.environ["FUSESCOPE_LIBRARY"] = tempfile.mkdtemp(dir=path.parent)
    from fusescope.app.store.keeping import read_through

    read_through(path)
    return read_through


def _hta(_: Path) -> Way:
    from hta.common.trace import Trace  # type: ignore[import-not-found]

    def load(path: Path) -> object:
        traces = Trace(trace_files={0: str(path)}, trace_dir=str(path.parent))
        traces.parse_traces(use_multiprocessing=False)
        return traces

    return load


# What must be installed for each.
WAYS: dict[str, tuple[Callable[[Path], Way], str | None]] = {
    "read": (_bytes, None),
    "json": (_json, None),
    "orjson": (_orjson, "orjson"),
    "pandas": (_pandas, None),
    "fusescope": (_fusescope, None),
    "reopened": (_reopened, "pyarrow"),
    "hta": (_hta, "hta"),
}


def _warm(read: Callable[[Path], object]) -> None:
    """Reads one small file of each kind, so that nothing is loaded later."""
    formats = Path(__file__).parent.parent / "sample_traces" / "formats"
    for name in (
        "kineto", "onnxruntime", "ascend_op_summary", "ascend_trace_view", "msprof_timeline",
        "mindspore_cpu_timeline", "rocprof",
    ):  # fmt: skip
        if (formats / name).is_dir():
            read(formats / name)


def main() -> None:
    """Measures and prints."""
    way, path = sys.argv[1], Path(sys.argv[2])
    read = WAYS[way][0](path)
    before, started, at = _resident(), _cpu_s(), time.perf_counter()
    kept = read(path)
    found = {
        "cpu_s": _cpu_s() - started,
        "wall_s": time.perf_counter() - at,
        "growth_mb": max(0.0, _peak() - before),
    }
    del kept
    print(json.dumps(found))


def _cpu_s() -> float:
    """CPU time of this process and of those it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def _peak() -> float:
    """The most memory so far in MiB; what getrusage says may be that of the parent process."""
    told = Path("/proc/self/status").read_text().partition("VmHWM:")[2]
    return int(told.split()[0]) / 1024


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / _MIB


if __name__ == "__main__":
    main()
