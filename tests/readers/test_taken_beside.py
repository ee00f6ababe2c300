"""Files beside one of which its reader says that they do not matter do not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read, taken_beside
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader, anything
from fusescope.analysis.trace import Trace
from tests import compiled_logs as logs
from tests import miniatures
from tests.readers.pytorch.test_compiled_calls import LOG, RAN

TELLING = [reader for reader in miniatures.FORMATS if reader.takes not in (None, anything)]
NOTHING_FITS = ("ascend_trace_view", "msprof_timeline")  # of what is in the other samples
NAMES = [reader.name for reader in TELLING]


def others(main: Source) -> Iterator[Source]:
    """The files of every format, logs of a compiler and of a database, and what is not a trace."""
    for reader in miniatures.FORMATS:
        for source in miniatures.files(reader):
            yield Source(source.name, source.data, path=f"{reader.name}-{source.name}")
    maps = next(line for line in LOG.splitlines() if "cppCodeToPost" in line).strip()
    yield Source("torch.log", LOG.encode())
    yield Source("map.json", maps.encode())
    for name in ("output_code.py", "fx_graph_readable.py", f"{main.path}-wal", "notes.txt"):
        yield Source(name, b"# AOT ID: ['0_inference']\n")
    yield Source(f"{main.path}-journal", bytes.fromhex("d9d505f920a163d7") + bytes(504))


def mains(reader: Reader) -> Source:
    """The sample of a format; of PyTorch one whose kernels were compiled, so that it asks."""
    if reader.name == "kineto":
        return Source("worker0.pt.trace.json", logs.compiled_steps(RAN))
    return miniatures.main_file(reader)


def told(main: Source, beside: tuple[Source, ...]) -> dict[str, object]:
    try:
        trace = read(main.among(beside))
    except FuseScopeError as error:
        return {"error": str(error)}
    assert isinstance(trace, Trace)
    return {
        **miniatures.values(trace),
        "files": trace.meta.files,
        "memory": [use.device for use in trace.memory],
        "waits": repr(trace.host_waits),
        "originals": trace.originals,
        "program": repr(trace.program),
    }


@pytest.mark.parametrize("reader", TELLING, ids=NAMES)
def test_a_reading_rests_on_what_its_reader_takes_and_on_nothing_else(reader: Reader) -> None:
    main = mains(reader)
    near = (*main.neighbours, *others(main))
    taken = taken_beside(main.among(near))
    assert taken is not None and 0 < len(taken) < len(near) // 2
    assert told(main, taken) == told(main, near)
    if reader.name not in NOTHING_FITS:
        assert told(main, ()) != told(main, taken)  # or this could not fail


@pytest.mark.exhaustive
@pytest.mark.parametrize("reader", TELLING, ids=NAMES)
def test_no_single_file_that_a_reader_does_not_take_changes_anything(reader: Reader) -> None:
    main = mains(reader)
    near = (*main.neighbours, *others(main))
    taken = {other.path for other in taken_beside(main.among(near)) or ()}
    alone = told(main, ())
    for other in near:
        if other.path not in taken:
            assert told(main, (other,)) == alone, other.path


@pytest.mark.parametrize("reader", READERS, ids=[reader.name for reader in READERS])
def test_only_readers_that_say_so_look_at_other_files(reader: Reader) -> None:
    if reader.name == "experiment":
        assert reader.takes is None
        return
    main = mains(reader).among(())
    read(main)
    assert main.rests_on_others == (reader.takes is not None)
