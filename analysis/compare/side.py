"""Side: one of the two things that are compared, a trace with what a recording knows beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import pandas as pd
from msgspec.structs import replace

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import DeviceFacts, Engine, Experiment, Peaks, VariantRecord
from fusescope.analysis.graph import Graph
from fusescope.analysis.operators.devices import runs_on_device
from fusescope.analysis.trace import Diagnostic, Part, Trace, runs_frame

if TYPE_CHECKING:
    from fusescope.analysis.ranks.pair import RankPair

Role = Literal["baseline", "candidate"]


@dataclass(frozen=True, eq=False)
class Side:
    """One side: its trace, and what the recording knows beyond it.

    `label` is the variant or the file, whole, and says which it is; `short_name` is set beside the
    other side (naming.py).
    """

    label: str
    trace: Trace
    graph: Graph | None = None
    experiment: Experiment | None = None
    variant: VariantRecord | None = None
    short_name: str = ""

    @property
    def name(self) -> str:
        """What the side is called where it is shown."""
        return self.short_name or self.label

    @property
    def engine(self) -> Engine | None:
        """What ran it; None of a trace, which names its profiler."""
        return self.experiment.record.engine_of(self.label) if self.experiment else None

    @property
    def has_model(self) -> bool:
        """Whether FuseScope ran a model for this side, so that its graph, its runs and the limits
        of its machine are known; False of a trace, also of one that a recorded command wrote."""
        return self.experiment is not None and self.experiment.record.command is None

    @cached_property
    def sampled_runs(self) -> pd.DataFrame:
        """Un-profiled runs, as the trace has them; those of a command, which its trace, written in
        another run, does not have."""
        if self.variant is None or self.has_model:
            return self.trace.sampled_runs
        samples = self.variant.samples
        return runs_frame(
            run=range(len(samples.wall_ns)),
            dur_ns=samples.wall_ns,
            cpu_ns=samples.cpu_ns,
            block=samples.block,
            round=samples.round,
            copy=samples.copy,
        )

    @property
    def counts_samples(self) -> bool:
        """Whether it is known how many samples its latency is of: the batch of a recorded model, or
        what the rate that a command printed counts. No trace says it."""
        if self.experiment is None:
            return False
        command = self.experiment.record.command
        return bool(self.experiment.record.model.batch) or (command is not None and command.is_rate)

    @property
    def is_in_blocks(self) -> bool:
        """Whether its runs are in blocks, so that it has a typical run."""
        return self.trace.has_blocks or bool(self.sampled_runs["copy"].notna().any())

    @property
    def provider(self) -> str:
        """By which of its engine's execution providers; '' of a trace."""
        told = self.variant.settings.get("provider") if self.variant else None
        if isinstance(told, str) and told:
            return told
        return self.engine.provider if self.engine else ""

    @property
    def environment(self) -> str:
        """What ran it: its engine, or one of several environments of that; '' of a trace."""
        return self.experiment.record.environment_of(self.label) if self.experiment else ""

    @property
    def own_name(self) -> str:
        """The label as a recording of its engine alone has it: `fused` of `openvino:fused`."""
        return self.experiment.record.own_name(self.label) if self.experiment else self.label

    @property
    def files(self) -> tuple[Part, ...]:
        """Those of a side of several files, in the order of recording; none of any other side."""
        return self.trace.meta.parts

    @property
    def is_quantised(self) -> bool:
        """Whether the recording quantised the model for this variant."""
        return self.variant is not None and self.variant.is_quantised

    @property
    def is_on_device(self) -> bool:
        """Whether an execution provider ran it on a device; False of a trace."""
        return runs_on_device(self.provider)

    @property
    def times_kernels(self) -> bool:
        """Whether operators have the time of their kernels on a device, not one of the host."""
        if self.variant is not None and self.has_model:
            lacks = any(note.code == "kernels_not_recorded" for note in self.trace.diagnostics)
            return self.variant.settings.get("kernel_times") == "device" and not lacks
        levels = self.trace.operators["level"]
        return len(levels) > 0 and bool((levels == "device_kernel").all())

    @property
    def device(self) -> DeviceFacts | None:
        """The device that a recording ran this variant on, with what it reached; None of a trace,
        and where nothing was measured."""
        record = self.experiment.record if self.experiment and self.has_model else None
        known = record.device if record is not None and self.is_on_device else None
        return known if known is not None and (known.products or known.bandwidth) else None

    @property
    def peaks(self) -> Peaks | None:
        """What the machine reaches with the threads of this side; None where it is not known, as
        for a variant with other threads than those the limits were measured with, or whose threads
        spin and theirs did not, and for one on a device: the processor was measured. Products were
        measured in float32, so of a model in another type they are not known."""
        if self.experiment is None or not self.has_model or self.is_on_device:
            return None
        record = self.experiment.record
        threads = self.variant.settings.get("intra_op_threads") if self.variant else None
        spins = self.variant is not None and record.spins(self.variant)
        known = threads in (None, record.settings.threads) and spins == record.settings.spin
        if self.variant is not None and self.variant.dtype not in ("", "float32"):
            return replace(record.peaks, gemm_flops_per_s=None) if known else None
        return record.peaks if known else None


def ranks_of(baseline: Side, candidate: Side) -> RankPair | None:
    """Return how two files of ranks belong together; None of recordings of FuseScope, and where
    nothing says of which rank they are."""
    if baseline.experiment is not None or candidate.experiment is not None:
        return None
    from fusescope.analysis.ranks.pair import rank_pair

    return rank_pair(baseline.trace, candidate.trace, (baseline.label, candidate.label))


def engines_differ(baseline: Side, candidate: Side) -> bool:
    """Whether two engines ran them, or one engine by two execution providers: then the change is of
    more than what was fused. False where a side does not say."""
    one, other = baseline.engine, candidate.engine
    if one is None or other is None:
        return False
    return (one.name, baseline.provider) != (other.name, candidate.provider)


def environments_differ(baseline: Side, candidate: Side) -> bool:
    """Whether two engines ran them, or two environments of one engine, whose compilers and
    libraries may differ; False where a side does not say."""
    if engines_differ(baseline, candidate):
        return True
    is_one = baseline.experiment is candidate.experiment
    return is_one and baseline.environment != candidate.environment


def check_whole(trace: Trace, name: str) -> None:
    """Raises FuseScopeError for a file that ends early: none of its runs is known to be whole, so
    nothing of it may be compared."""
    if trace.ends_early:
        raise FuseScopeError("side_ends_early", where=name)


def side_of_variant(experiment: Experiment, name: str) -> Side:
    """A variant of an experiment. Raises FuseScopeError for an unknown name."""
    variant = experiment.record.variant(name)
    return Side(
        label=name,
        trace=experiment.traces[name],
        graph=experiment.graphs.get(name),
        experiment=experiment,
        variant=variant,
    )


def side_of_trace(trace: Trace) -> Side:
    """A trace of its own, labelled with its file name, and which process or device it is."""
    return Side(label=label_of(trace.meta.file_name, trace), trace=trace)


def label_of(name: str, trace: Trace) -> str:
    """The label of a trace whose file is called `name`: behind it the process or device that it is
    of, where the file holds several."""
    unit = trace.meta.variant
    return f"{name} · {unit}" if unit and holds_several(trace) else name


def holds_several(trace: Trace) -> bool:
    """True for one of several processes or devices of a file."""
    return units_of(trace) is not None


def units_of(trace: Trace) -> Diagnostic | None:
    """The note on how many processes or devices the file of a trace holds; None for one."""
    codes = ("one_of_processes", "one_of_devices")
    return next((note for note in trace.diagnostics if note.code in codes), None)


def computing_units(note: Diagnostic | None) -> int:
    """Return how many processes there are by the note of `units_of`, or how many devices that do
    not only copy or fill memory; 1 without a note."""
    if note is None:
        return 1
    computing = note.values.get("computing")
    if note.code == "one_of_devices" and isinstance(computing, int):
        return computing
    return note.count
