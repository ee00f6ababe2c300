"""What the recorder asks of a worker, and what the worker answers. Paths are absolute."""

from __future__ import annotations

import msgspec

from collectors.blocks import Lane
from collectors.variants import Optimization


class InputFacts(msgspec.Struct, frozen=True):
    """One model input as it is fed; `source` says how the values were made."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    source: str


class PrepareJob(msgspec.Struct, frozen=True):
    """Load or build the model and write the working copy into `folder`."""

    model: str
    folder: str
    zoo: bool
    cache: str
    seed: int
    batch: int | None
    shapes: dict[str, tuple[int, ...]]
    inputs: str | None
    input_ranges: dict[str, tuple[float, float]]
    allow_external_data: bool
    eager: bool


class Prepared(msgspec.Struct, frozen=True):
    """The working copy: `model` (ONNX), `inputs` (npz: arr_0, arr_1, …), `graph` (graph JSON),
    and `steps`, the eager steps, when they were asked for."""

    model: str
    inputs: str
    graph: str
    steps: str | None
    sha256: str
    nodes: int
    opset: int
    batch: int | None
    facts: tuple[InputFacts, ...]
    engine_version: str


class Bench(msgspec.Struct, frozen=True):
    """What every measuring worker needs: the working copy and the session settings.

    `inputs` is an npz with the values of `input_names`, in that order, as arr_0, arr_1, …
    """

    model: str
    inputs: str
    input_names: tuple[str, ...]
    steps: str | None
    threads: int
    spin: bool


class Step(msgspec.Struct, frozen=True):
    """One node: its model file, what it reads and writes, and what nobody reads after it."""

    file: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    free: tuple[str, ...]


class Steps(msgspec.Struct, frozen=True):
    """The nodes in the order they run, and the model's outputs."""

    steps: tuple[Step, ...]
    outputs: tuple[str, ...]


class Switches(msgspec.Struct, frozen=True):
    """What the engine may optimise: a level, and optimizers that are off nonetheless."""

    optimization: Optimization
    disabled: tuple[str, ...] = ()


class StructuresJob(msgspec.Struct, frozen=True):
    """See what the engine makes of the model under each of these settings."""

    bench: Bench
    switches: tuple[Switches, ...]


class Structure(msgspec.Struct, frozen=True):
    """An optimised graph: equal digests, equal graphs; `op_types` counts operators by type."""

    digest: str
    op_types: dict[str, int]


class Structures(msgspec.Struct, frozen=True):
    """One for each of the job's settings, in that order."""

    structures: tuple[Structure, ...]


class CheckJob(msgspec.Struct, frozen=True):
    """Run one variant alone: peak memory, outputs, and the graph the engine made of it.

    `reference` is the outputs file of the baseline, None for the baseline itself, which writes
    its outputs to `outputs`. The graph goes to `graph`, the engine's own file of it to `dump`.
    """

    bench: Bench
    variant: str
    outputs: str
    reference: str | None
    graph: str
    dump: str


class Checked(msgspec.Struct, frozen=True):
    """`graph_problem` says why no graph was written; `setup_ns`, `run_ns` feed the estimate of
    the time left. `difference` is (absolute, relative), each None where not computable."""

    settings: dict[str, str | int | float | bool]
    nodes: int | None
    graph_problem: str | None
    peak_memory_bytes: int | None
    difference: tuple[float | None, float | None] | None
    setup_ns: int
    run_ns: int


class MatchJob(msgspec.Struct, frozen=True):
    """Find which tensors of a variant's graph hold the values of which tensors of the model.

    `dump` is the engine's own file of that graph. The matches go to `matches`. Tensors of
    `budget_bytes` are held at a time. After `seconds` the search ends with what it has found.
    """

    bench: Bench
    variant: str
    dump: str
    matches: str
    seconds: float
    budget_bytes: int = 256 * 1024 * 1024


class Matched(msgspec.Struct, frozen=True):
    """`refuted` tensors have the name of one of the model's and other values; `unknown` ones
    have a name that the model does not know and no match. `problem` says why the search ended
    before its end, None when it did not."""

    refuted: int
    unknown: int
    problem: str | None


class PeaksJob(msgspec.Struct, frozen=True):
    """Measure what this machine can do under the recording's thread settings."""

    threads: int
    spin: bool


class PeaksMeasured(msgspec.Struct, frozen=True):
    """As analysis.experiment.Peaks has them."""

    gemm_flops_per_s: float
    gemm_n: int
    dispatch_ns: float | None


class BlockJob(msgspec.Struct, frozen=True):
    """One block, or with spinning one lane of it.

    Every lane runs `rounds` times un-profiled; profiles go to `profiles`/<variant>.json.
    """

    bench: Bench
    lanes: tuple[Lane, ...]
    seed: int
    attempt: int
    rounds: int
    warmup_rounds: int
    profiled_rounds: int
    profile_warmup_rounds: int
    profiled_variants: tuple[str, ...]
    profiles: str


class LaneRuns(msgspec.Struct, frozen=True):
    """Un-profiled runs of one lane, in the order of the rounds."""

    variant: str
    copy: int
    wall_ns: list[int]
    cpu_ns: list[int]


class ProfiledRuns(msgspec.Struct, frozen=True):
    """The profile of one variant; spans only where the profile does not mark whole runs."""

    variant: str
    file: str
    run_start_ns: list[int] | None = None
    run_dur_ns: list[int] | None = None


class BlockMeasured(msgspec.Struct, frozen=True):
    """One block's runs."""

    lanes: list[LaneRuns]
    profiles: list[ProfiledRuns]
