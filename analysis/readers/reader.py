"""Reader: what a format must offer to be opened, explained and documented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from analysis.errors import FuseScopeError
from analysis.experiment import Experiment
from analysis.readers.input.source import Source
from analysis.trace import Trace

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
    "memory",  # bytes of tensors, or peak memory
    "graph",  # the network's graph before and after optimisation
)
ALWAYS = ""


class Declined(FuseScopeError):
    """The file is of another format after all, which its first bytes could not tell.

    The next reader that may know it is asked; where none does, this is the error.
    """


class Reader(Protocol):
    """One format. `read` raises FuseScopeError, at times Declined, and nothing else."""

    @property
    def name(self) -> str:
        """The format, as in `Meta.format`."""

    @property
    def title(self) -> str:
        """What its users call it: 'Ascend profiler, kernel_details.csv'."""

    @property
    def fields(self) -> Mapping[str, str]:
        """What such files can hold, of FIELDS: ALWAYS, or the switch that has it recorded.

        A switch is the end of a sentence: 'record with profiler_level=Level1'. A field that is not
        named is never in such a file.
        """

    @property
    def recording(self) -> str:
        """How to record such a file well: the exact call, as Markdown."""

    @property
    def covers(self) -> tuple[str, ...]:
        """Readers whose files, beside one of this format, say the same in less detail.

        A file of theirs that tells of other executions stays a recording of its own.
        """

    def sniff(self, head: bytes) -> bool:
        """True when the first bytes look like this format. Raises nothing."""

    def read(self, source: Source) -> Trace | Experiment:
        """The whole file as a value, with what it needs of `source.beside`."""
