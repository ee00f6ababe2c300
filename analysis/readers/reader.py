"""Reader: what a format must offer to be opened, explained and documented."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

# What a file can hold. The import doctor and docs/formats.md speak of these.
FIELDS = (
    "start",  # when each operator started
    "runs",  # which operators belong to one run of the model
    "samples",  # un-profiled run times
    "types",  # op types
    "shapes",
    "dtypes",
    "flops",
    "counters",  # hardware counters per operator
    "members",  # original operators of fused ones
    "stream",
    "communication",
    "sizes",  # bytes of tensors
    "peak_memory",  # of a run
    "memory",  # over time
    "graph",  # the network's graph before and after optimisation
)
ALWAYS = ""


class Declined(FuseScopeError):
    """The file is of another format after all, which its first bytes could not tell.

    The next reader that may know it is asked; where none does, this is the error.
    """


def anything(source: Source, other: Source) -> bool:
    """True: any file beside another may matter, see Reader.takes."""
    return True


class Reader(msgspec.Struct, frozen=True, eq=False):
    """One format.

    `name` is that of `Meta.format`, `title` what its users call it: 'Ascend profiler,
    kernel_details.csv'. `fields` are what such files can hold, of FIELDS: ALWAYS, or a sentence
    that says how to have it recorded: 'Record with profiler_level=Level1.'; a field that is not
    named is read from none of them. Titles and these sentences are marked for the catalogue.
    `recording` says how to record such a file well: the exact call, as Markdown, for the docs.

    `sniff` is true when the first bytes look like this format, and raises nothing. `read` makes a
    value of the whole file, with what it needs of `source.beside`; it raises FuseScopeError, at
    times Declined, and nothing else.

    `takes` is true of a file beside the first one on which the reading of that may rest: what it is
    not true of changes nothing. None for a reader that never looks at others; `anything` where it
    is not worth telling.

    `covers` are readers whose files, beside one of this format, say the same in less detail. A
    file of theirs that tells of other executions stays a recording of its own.
    """

    name: str
    title: str
    fields: Mapping[str, str]
    recording: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Source], Trace | Experiment]
    covers: tuple[str, ...] = ()
    takes: Callable[[Source, Source], bool] | None = None
