"""Experiment: variants of one model recorded together, and the file that holds them.

The file is one zip: `experiment.json` (ExperimentRecord below), `profiles/<variant>/<block>.json`
(the engine's own profile, untouched) and `graphs/<variant>.json` (Graph after optimisation;
`graphs/model.json` is the model file itself). docs/experiment-file.md describes it for others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph
from fusescope.analysis.text import clean_text

if TYPE_CHECKING:  # at run time it would bring pandas into every worker that measures
    from fusescope.analysis.trace import Diagnostic, Trace

SCHEMA_VERSION = 1
COMMAND = "command"  # in place of an engine, where a command of the user's own ran
RECORD_NAME = "experiment.json"
RELEASES_NAME = "releases.json"  # in its place in the other zip of ours: analysis/releases
_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)
# max|a-b| / max|a| up to which outputs of one precision are the same, to collectors and to doubts
MAX_DIFFERENCE = 1e-4

# A file is foreign, and what is larger than these fits no table of 64 bits once it is summed up.
_MAX = 2**60
Count = Annotated[int, msgspec.Meta(ge=0, le=_MAX)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=_MAX)]
Whole = Annotated[int, msgspec.Meta(ge=-_MAX, le=_MAX)]
Moment = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]  # ns, also since 1970
Duration = Annotated[int, msgspec.Meta(ge=0, le=2**50)]  # ns, up to 13 days
Real = Annotated[float, msgspec.Meta(ge=-1e18, le=1e18)]
PositiveFloat = Annotated[float, msgspec.Meta(gt=0, le=1e18)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Part = Annotated[float, msgspec.Meta(ge=-1e6, le=1)]


FROM_FILE = "file"  # the source of values that the user gave


class ModelInput(msgspec.Struct, frozen=True):
    """One model input as it was fed: `source` says how the values were made. `declared` are its
    dimensions in the model where it has dynamic ones: a size, a name, '' for one without a name;
    empty where it does not even say how many there are, None where all are fixed."""

    name: str
    dtype: str
    shape: tuple[Whole, ...]
    source: str
    declared: tuple[Whole | str, ...] | None = None


class ModelFacts(msgspec.Struct, frozen=True):
    """The model. `sha256` covers the model file and its external data; of a model for torch or jax,
    the file, the weights and the inputs. `nodes` are those of the model file; for torch, of the
    eager run; for jax, of its jaxpr. `opset` is that of an ONNX model. Of a command, `name` is its
    script, `sha256` covers it and the files that it names, `nodes` is 0, and `batch` how many of
    what it counts a sample is of."""

    name: str
    source: Literal["zoo", "file", "command"]
    sha256: str
    nodes: Whole
    opset: Whole | None
    inputs: tuple[ModelInput, ...]
    batch: Whole | None = None


class Cache(msgspec.Struct, frozen=True):
    """One cache level: bytes of one instance, and how many instances the machine has."""

    level: Whole
    type: str
    bytes: Positive
    instances: Positive = 1


class Machine(msgspec.Struct, frozen=True):
    """What the recording ran on. Load is the 1-minute average; None where it is not readable."""

    cpu_model: str
    architecture: str
    physical_cores: Whole | None
    logical_cores: Positive
    memory_bytes: Positive
    caches: tuple[Cache, ...]
    os: str
    governor: str | None = None
    load_before: Real | None = None
    load_after: Real | None = None


class Engine(msgspec.Struct, frozen=True):
    """The inference engine."""

    name: str
    version: str
    provider: str


class Spread(msgspec.Struct, frozen=True):
    """Lower and upper quartile of a rate over the repetitions of its measurement."""

    low: PositiveFloat
    high: PositiveFloat


class Bandwidth(msgspec.Struct, frozen=True):
    """Best rate of y = a + b over long float32 vectors: bytes of a, b and y / time.

    `level` is the cache level that holds all of them, None where no cache does: main memory.
    """

    level: Positive | None
    bytes_per_s: PositiveFloat
    spread: Spread
    working_set_bytes: Positive


class Peaks(msgspec.Struct, frozen=True):
    """Measured limits of this machine with the settings of the recording.

    `gemm_flops_per_s`: best float32 matrix product of the engine (2·n³ / time);
    `dispatch_ns`: un-profiled time that one more tiny operator adds to a graph;
    `int8_ops_per_s`: best product of uint8 and int8 matrices, counted alike;
    `bandwidths`: one a cache level from the second on, and main memory. Spreads are of the
    size (`gemm_n`, `int8_n`) that reached the best.
    """

    gemm_flops_per_s: PositiveFloat | None = None
    gemm_n: Whole | None = None
    dispatch_ns: PositiveFloat | None = None
    gemm_spread: Spread | None = None
    int8_ops_per_s: PositiveFloat | None = None
    int8_n: Whole | None = None
    int8_spread: Spread | None = None
    bandwidths: tuple[Bandwidth, ...] = ()

    @property
    def memory(self) -> Bandwidth | None:
        """The bandwidth of main memory."""
        return next((one for one in self.bandwidths if one.level is None), None)


class Settings(msgspec.Struct, frozen=True):
    """How the recording was made; every block has at least `rounds` rounds."""

    baseline: str
    threads: Positive
    spin: bool
    seed: Whole
    rounds: Positive
    profiled_rounds: Positive
    warmup_rounds: Count
    looks: tuple[Whole, ...]
    command: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """How the recording went.

    `stopped`: decided (a look settled every comparison), blocks (all planned blocks done), seconds
    (time budget), interrupted, device (it failed). `quiet_reference`: mean ln(seconds) of quiet
    blocks on this machine, or None when none was stored; `blocks_replaced` blocks were slower than
    that by more than 10 % and were recorded again, `blocks_loaded` were as slow and had to be kept.
    `preparation_s` is what everything before the first block took, `block_s` the median of the
    blocks, both in seconds; None in files of older versions.
    """

    blocks: Count
    blocks_replaced: Count
    stopped: Literal["decided", "blocks", "seconds", "interrupted", "device"]
    quiet_reference: Real | None = None
    blocks_loaded: Count = 0
    preparation_s: PositiveFloat | None = None
    block_s: PositiveFloat | None = None


class DeviceState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the driver of a device says of it at one moment, None where that is not readable. `busy`
    is the part of the last moments in which it ran something. `block` is the block before or after
    which it was asked, None: before the first worker of the recording used it."""

    clock_mhz: Real | None = None
    memory_clock_mhz: Real | None = None
    temperature_c: Real | None = None
    power_w: Real | None = None
    busy: Share | None = None
    used_bytes: Whole | None = None
    block: Count | None = None


class ProductPeak(msgspec.Struct, frozen=True):
    """Best matrix product of a device in one data type, 'tf32' for float32 that it rounds to that:
    2·n³ / time for n × n matrices. The spread is of that size."""

    data_type: Literal["float32", "tf32", "bfloat16", "float16"]
    flops_per_s: PositiveFloat
    n: Positive
    spread: Spread


class DeviceFacts(msgspec.Struct, frozen=True):
    """The device that a recording ran on: `kind` as the recording was asked ('cuda'), `driver` and
    `runtime` ('CUDA 13.0') their versions, '' where not readable. `states` are in order of time:
    one from before the recording, then two of each block; none where nothing tells them. `products`
    and `bandwidth` are what it reached in the recording's engine, by the time of its own events
    where it has them; none where they were not measured."""

    kind: str
    name: str
    memory_bytes: Whole | None = None
    l2_bytes: Whole | None = None
    driver: str = ""
    runtime: str = ""
    states: tuple[DeviceState, ...] = ()
    products: tuple[ProductPeak, ...] = ()
    bandwidth: Bandwidth | None = None


class Samples(msgspec.Struct, frozen=True):
    """Un-profiled runs as parallel columns; `copy` is 2 for the second copy of the baseline.
    `device_ns` is the time between two events of the device around each run, None where there are
    none."""

    block: list[Count]
    round: list[Count]
    copy: list[Positive]
    wall_ns: list[Duration]
    cpu_ns: list[Duration]
    device_ns: list[Duration] | None = None

    def __post_init__(self) -> None:
        columns = [self.block, self.round, self.copy, self.wall_ns, self.cpu_ns]
        columns += [] if self.device_ns is None else [self.device_ns]
        if len(set(map(len, columns))) > 1:
            raise ValueError("samples: columns differ in length")


class Profile(msgspec.Struct, frozen=True):
    """One profiled session: `file` inside the zip, of whose runs the first `warmup_runs` warm up.

    `run_start_ns`, `run_dur_ns` are given where the profile itself does not mark the runs of the
    whole model (eager): on the clock of the file, ns after its zero. What else lies beside that
    file in the zip is the profiler's, too.
    """

    block: Count
    file: str
    warmup_runs: Count
    run_start_ns: list[Moment] | None = None
    run_dur_ns: list[Duration] | None = None


class OutputDifference(msgspec.Struct, frozen=True):
    """Against the baseline's outputs on the same input: max|a-b| and max|a-b| / max|a|. Both None
    where outputs are not finite numbers of one shape; the ratio alone where an a is all zero."""

    absolute: Real | None
    relative: Real | None


class Agreement(msgspec.Struct, frozen=True):
    """With the baseline's classes, on other inputs than the recorded ones: not accuracy.

    `output` scores `classes` classes along its axis 1. `top1` is the part of all positions where
    the highest score is that of the baseline's class, `top5` where that class is among the five
    highest (None where there are no more than five). Of equal scores the first counts as higher.
    Each of the `samples` has as many positions as the output has places behind axis 1. `distinct`
    is how many classes the baseline chose: where it is 1, agreement says little.
    """

    output: str
    classes: Positive
    samples: Positive
    positions: Positive
    distinct: Positive
    top1: Share
    top5: Share | None = None


class TensorMatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tensor of a variant's graph that holds the same values as one of the model's.

    Both graphs ran on the same input. `by` name: they carry the same name, and the values were
    compared; value: no other tensor of the model comes near; refuted: no match, they carry the
    same name and hold other values. `layout` is how the variant
    stores it: "" as the model does, "blocked" in channel blocks (NCHWc), "permuted" with its axes
    in another order. `absolute` is max|a-b|, `relative` max|a-b| / max|a| with a the model's;
    None where not computable.
    """

    original: str
    optimised: str
    by: Literal["name", "value", "refuted"]
    layout: Literal["", "blocked", "permuted"] = ""
    absolute: Real | None = None
    relative: Real | None = None


# library: one of the two is a call of a library, which the compiler does not look into; between:
# a kernel between them needs the first and feeds the second; reduction: the first has to end before
# the second can begin; ranges: their loops differ; order: a library call runs between them;
# silent: none of these, and the engine says nothing.
DerivedReason = Literal["library", "between", "reduction", "ranges", "order", "silent"]


class NotFused(msgspec.Struct, frozen=True):
    """Two operators of a variant's graph, of which the second reads what the first writes, and why
    the compiler left them apart: `reason` is what the engine said, in its own words, or `by`
    derived a DerivedReason."""

    first: str
    second: str
    by: Literal["engine", "derived"]
    reason: str


class VariantRecord(msgspec.Struct, frozen=True):
    """One variant: what ran, and what was measured. Peak memory is resident bytes above the
    level before the session was created, in a process of its own; None where not readable.
    `matches` is the file inside the zip that holds a list of TensorMatch, `not_fused` that of a
    list of NotFused. In a report `tables` is the file that holds what was in the profiles, in their
    place. `engine` is what ran it in a recording of several engines, None where that is the one of
    the record. `dtype_difference` is from the outputs of the eager model before its weights and
    inputs were converted to another type, on the same inputs; None where they were not."""

    name: str
    settings: dict[str, str | Whole | float | bool]
    samples: Samples
    profiles: list[Profile]
    graph: str | None
    nodes: Whole | None = None
    output_difference: OutputDifference | None = None
    agreement: Agreement | None = None
    peak_memory_bytes: Whole | None = None
    matches: str | None = None
    tables: str | None = None
    not_fused: str | None = None
    engine: Engine | None = None
    dtype_difference: OutputDifference | None = None

    @property
    def dtype(self) -> str:
        """Return what floating-point weights and inputs were converted to; '' for none."""
        return str(self.settings.get("dtype", ""))

    def rounds_like(self, baseline: VariantRecord) -> bool:
        """Return whether rounding to `dtype` explains how far its outputs are from the baseline's:
        they are at most twice as far as those from the outputs of the model in its own types. That
        is the rule by which FlashAttention's tests judge kernels in half precision."""
        own, other = (
            one.dtype_difference.relative if one.dtype_difference else None
            for one in (self, baseline)
        )
        return own is not None and other is not None and own <= 2 * other

    @property
    def is_quantised(self) -> bool:
        """Whether the model was quantised for it, so that it computes something else."""
        return "quantisation" in self.settings

    @property
    def is_marked(self) -> bool:
        """Whether results of operators were copied out of the model, which keeps OpenVINO from
        fusing them: its run is not that of the model, though its operators are."""
        return "marked_outputs" in self.settings

    @property
    def why_no_graph(self) -> str:
        """Why the engine did not show its graph; '' where it did, or the recording does not say."""
        return str(self.settings.get("graph_missing", "")).strip().removesuffix(".")


class OwnFusion(msgspec.Struct, frozen=True):
    """Operators of the model that FuseScope's own pass makes one, tried and verified on this
    model: node names in the order that data flows. `rewrites` are the names that rule files have
    for what makes it, `makes` is its op type; empty in older files."""

    pattern: str
    operators: tuple[str, ...]
    rewrites: tuple[str, ...] = ()
    makes: str = ""


class PredictedPart(msgspec.Struct, frozen=True):
    """Of the time of a run, at 90 %: 0.1 is a tenth. `low` <= `value` <= `high`."""

    value: Part
    low: Part
    high: Part

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError("the prediction is outside its interval")


class Try(msgspec.Struct, frozen=True):
    """What a finding asked for, recorded beside the baseline, the best variant so far.

    `finding` is its code (docs/findings.md), `predicted` the part of the baseline's run that
    `variant` was predicted to save, None without a prediction. `rules` is the text of its rule
    file, '' for other variants; `refused` is the reason, a sentence, if the variant could not be
    made.
    """

    variant: str
    finding: str
    predicted: PredictedPart | None = None
    rules: str = ""
    refused: str = ""


class CommandFacts(msgspec.Struct, frozen=True):
    """A command of the user's own, in place of a model: its `line`, in which a `shell` ran it or
    none. `time` is the wall time of a run, or what it `printed`; `found_by` is where that stands,
    in `unit`, which `is_rate` or a time, and a sample is that of `samples_of` of what it counts.
    `profiled`: the traces are of the runs that were timed, together, or of others, apart."""

    line: str
    time: Literal["wall", "printed"]
    found_by: str
    unit: str
    samples_of: Positive
    profiled: Literal["apart", "together"]
    is_rate: bool = False
    shell: bool = False


class ExperimentRecord(msgspec.Struct, frozen=True):
    """experiment.json. `created` is ISO 8601 in UTC. `engine` is that of the baseline, and of every
    variant that names none. `own_fusions` is the file inside the zip that
    holds a list of OwnFusion, None where our own pass was not tried. `tries` are what the recording
    was made for, where it tries what findings ask for. In a report, `compared` are
    the variants on its sides: baseline and candidate, or the one that is of this experiment.
    `command` is what ran in place of a model, None for a model. `device` is what it ran on beside
    the processor."""

    schema_version: Whole
    fusescope_version: str
    created: str
    model: ModelFacts
    machine: Machine
    engine: Engine
    settings: Settings
    outcome: Outcome
    peaks: Peaks
    variants: Annotated[list[VariantRecord], msgspec.Meta(min_length=1)]
    model_graph: str | None = None
    own_fusions: str | None = None
    tries: Annotated[tuple[Try, ...], msgspec.Meta(max_length=64)] = ()
    compared: Annotated[tuple[str, ...], msgspec.Meta(max_length=2)] = ()
    command: CommandFacts | None = None
    device: DeviceFacts | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the variants."""
        return tuple(variant.name for variant in self.variants)

    @property
    def engines(self) -> tuple[Engine, ...]:
        """Those that ran its variants, each once: more than one in a recording of several."""
        return tuple(dict.fromkeys(one.engine or self.engine for one in self.variants))

    def engine_of(self, variant: str) -> Engine:
        """What ran the variant of that name; the record's where there is no such variant."""
        named = (one.engine for one in self.variants if one.name == variant)
        return next(named, None) or self.engine

    def environment_of(self, variant: str) -> str:
        """What ran it, as a recording of several calls that: `torch@2.9` of `torch@2.9:fused`, an
        environment of the user's, else the name of the engine."""
        engine, before = self.engine_of(variant).name, variant.partition(":")[0]
        return before if before.startswith(f"{engine}@") else engine

    def own_name(self, variant: str) -> str:
        """What a recording of one engine calls it: `fused` of `openvino:fused`."""
        return variant.removeprefix(f"{self.environment_of(variant)}:")

    @property
    def rounds(self) -> tuple[int, int]:
        """Return the fewest and the most rounds of a block: a time budget lets later blocks have
        fewer than the first."""
        counts: dict[tuple[str, int], set[int]] = {}
        for variant in self.variants:
            samples = variant.samples
            for block, number in zip(samples.block, samples.round, strict=True):
                counts.setdefault((variant.name, block), set()).add(number)
        rounds = [len(numbers) for numbers in counts.values()] or [self.settings.rounds]
        return min(rounds), max(rounds)

    @property
    def spinning(self) -> tuple[str, ...]:
        """Variants whose idle threads spun. With one of them every session of a block, also of
        the others, had a process of its own."""
        return tuple(one.name for one in self.variants if self.spins(one))

    @property
    def releases(self) -> tuple[str, ...]:
        """Variants that another release of the engine ran than the installed one. With one of them
        every session of a block had a process of its own, unless they shared one."""
        return tuple(one.name for one in self.variants if "engine_release" in one.settings)

    @property
    def providers(self) -> tuple[str, ...]:
        """Variants that an execution provider ran which brings an engine of its own. With one of
        them every session of a block had a process of its own."""
        return tuple(one.name for one in self.variants if "provider_options" in one.settings)

    @property
    def releases_share_process(self) -> bool:
        """Whether all variants were releases that ran in one process, each by its library."""
        return any(one.settings.get("releases_share_process") is True for one in self.variants)

    def spins(self, variant: VariantRecord) -> bool:
        """Whether its idle threads spun."""
        return variant.settings.get("intra_op_spinning", self.settings.spin) is True

    def variant(self, name: str) -> VariantRecord:
        """The variant of that name. Raises FuseScopeError that lists what there is."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise FuseScopeError("no_such_variant", variant=name[:60], known=", ".join(self.names))


@dataclass(frozen=True, eq=False)
class Experiment:
    """The record with its traces, graphs and tensor matches by variant name, of those variants that
    were asked for.

    `model_graph` is the model file's; a variant without recorded matches is not in `matches`.
    `own_fusions` is what our own pass fuses at level O3, None where that is not known. `not_fused`
    has the variants whose engine was asked why it left operators apart.
    """

    record: ExperimentRecord
    traces: dict[str, Trace]
    graphs: dict[str, Graph]
    model_graph: Graph | None = None
    file_name: str = ""
    sha256: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    matches: dict[str, tuple[TensorMatch, ...]] = field(default_factory=dict)
    own_fusions: tuple[OwnFusion, ...] | None = None
    not_fused: dict[str, tuple[NotFused, ...]] = field(default_factory=dict)


def parse_record(data: bytes) -> ExperimentRecord:
    """experiment.json as a value. Raises FuseScopeError naming the offending field."""
    try:
        version = msgspec.json.decode(data, type=_Versioned).schema_version
        if version != SCHEMA_VERSION:
            raise FuseScopeError(
                "experiment_version", where=RECORD_NAME, version=version, known=SCHEMA_VERSION
            )
        return msgspec.json.decode(data, type=ExperimentRecord)
    except _UNREADABLE as error:
        raise _damaged(RECORD_NAME, error) from error


def parse_matches(data: bytes, where: str) -> tuple[TensorMatch, ...]:
    """Tensor matches from their JSON. Raises FuseScopeError naming `where` and the field."""
    try:
        return msgspec.json.decode(data, type=tuple[TensorMatch, ...])
    except _UNREADABLE as error:
        raise _damaged(where, error) from error


def parse_own_fusions(data: bytes, where: str) -> tuple[OwnFusion, ...]:
    """What our own pass fuses, from its JSON. Raises FuseScopeError naming `where`."""
    try:
        return msgspec.json.decode(data, type=tuple[OwnFusion, ...])
    except _UNREADABLE as error:
        raise _damaged(where, error) from error


def parse_not_fused(data: bytes, where: str) -> tuple[NotFused, ...]:
    """Why operators were left apart, from its JSON. Raises FuseScopeError naming `where`."""
    try:
        return msgspec.json.decode(data, type=tuple[NotFused, ...])
    except _UNREADABLE as error:
        raise _damaged(where, error) from error


def _damaged(where: str, error: Exception) -> FuseScopeError:
    reason = clean_text(str(error), 160)
    return FuseScopeError("experiment_file_damaged", where=where, reason=reason)


def record_json(record: ExperimentRecord) -> bytes:
    """experiment.json, indented, as `parse_record` reads it."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1)


class _Versioned(msgspec.Struct):
    schema_version: int
