"""What the recorder asks of a worker, and what the worker answers. Paths are absolute."""

from __future__ import annotations

from typing import Literal

import msgspec

from fusescope.analysis.experiment import (
    Agreement,
    Bandwidth,
    Cache,
    DeviceState,
    ProductPeak,
)
from fusescope.collectors.models.facts import InputFacts
from fusescope.collectors.workers.drawn import GivenInput
from fusescope.collectors.workers.placement import AS_IT_IS, Placement

Optimization = Literal["none", "basic", "extended", "all"]  # ONNX Runtime's levels


class Lane(msgspec.Struct, frozen=True):
    """One session of a block: a variant, and which copy of it (2: the A/A control)."""

    variant: str
    copy: int


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
    expand_functions: bool = False
    placement: Placement = AS_IT_IS
    given: tuple[GivenInput, ...] = ()


class Prepared(msgspec.Struct, frozen=True):
    """The working copy: `model` (ONNX), `inputs` (npz: arr_0, arr_1, …), `graph` (graph JSON).
    `calls` is the model as it was before its functions were expanded, `declared` a file of what
    the model said of its tensors, None where it fixes every dimension of its inputs. `lacking` has
    the variants that this release of the engine cannot compile, and what it lacks for them."""

    model: str
    inputs: str
    graph: str
    sha256: str
    nodes: int
    opset: int | None
    batch: int | None
    facts: tuple[InputFacts, ...]
    engine_version: str
    calls: str | None = None
    declared: str | None = None
    lacking: dict[str, str] = {}
    changed: tuple[str, ...] = ()


class DevicePeaksJob(msgspec.Struct, frozen=True):
    """Measure what the device of a recording can do. The answer is `DevicePeaks`."""

    settings: SessionSettings


class DevicePeaks(msgspec.Struct, frozen=True):
    """Best matrix products by data type, and the best bandwidth, as DeviceFacts has them."""

    products: tuple[ProductPeak, ...]
    bandwidth: Bandwidth | None


class LibraryJob(msgspec.Struct, frozen=True):
    """Load the custom-op library at `path`, and have the engine take its operators."""

    path: str


class EngineJob(msgspec.Struct, frozen=True):
    """Import the engine's `module`, and before it the packages that workers of it share."""

    module: str
    shared: tuple[str, ...]


class EngineVersion(msgspec.Struct, frozen=True):
    """What an engine calls itself, with a local part (+cpu) where it has one."""

    version: str


class DeviceJob(msgspec.Struct, frozen=True):
    """See whether the device of a recording is there. The answer is analysis.experiment's
    DeviceFacts."""

    placement: Placement


class ExportJob(msgspec.Struct, frozen=True):
    """Write the zoo model `model` into `folder`, its batch fixed where one is given. The answer is
    the path of the file."""

    model: str
    folder: str
    cache: str
    batch: int | None


class ProgramJob(msgspec.Struct, frozen=True):
    """Write the working copy `model` into `folder` as a program that these engines run, which have
    no ONNX."""

    model: str
    folder: str
    engines: tuple[str, ...]


class CutOutJob(msgspec.Struct, frozen=True):
    """Write `nodes` of the working copy `model` as a model of their own to `to`: it reads `inputs`
    and returns `outputs`. `tensors` are dtype and shape of these as they ran. The answer is its
    size in bytes."""

    model: str
    to: str
    nodes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, tuple[str, tuple[int, ...]]]


class Derived(msgspec.Struct, frozen=True):
    """What runs in place of the working copy: the ONNX file `model`, or with `steps` (a file that
    holds Steps) the pieces listed there, of which `model` is only the picture.

    `optimization` is what the engine may still do to it. With `keeps_tensors` a tensor that has
    the name of one of the model's stands for it, though its values may differ, so nothing has to
    be looked for. `codes` is the file of a quantised model's Codes, `kernel_library` that of our
    own operators in the model. `provider` is the execution provider that runs it (the name of one
    of collectors/runtimes/providers.py), '' for the CPU's; `drawn` an ONNX file of the graph that
    runs, '' where the engine writes one itself. `settings` are told in the experiment file.
    """

    model: str
    steps: str | None = None
    optimization: Optimization = "none"
    keeps_tensors: bool = False
    codes: str | None = None
    kernel_library: str | None = None
    provider: str = ""
    drawn: str = ""
    settings: dict[str, str | int | float | bool] = {}


class Codes(msgspec.Struct, frozen=True):
    """What tensors of a quantised model stand for: `originals` gives the working copy's tensor for
    each that holds its values or its codes, `dequantised` the one that holds the values that the
    codes of a tensor of the working copy mean."""

    originals: dict[str, str]
    dequantised: dict[str, str]


class Drawing(msgspec.Struct, frozen=True):
    """How more input values can be drawn: as the recorded ones were. `ranges` are those that the
    user gave, `from_file` the inputs whose recorded values came from a file."""

    seed: int = 0
    batch: int = 1
    ranges: dict[str, tuple[float, float]] = {}
    from_file: tuple[str, ...] = ()


class Denied(msgspec.Struct, frozen=True):
    """A fused kernel that is to run operator by operator: `nodes` of graph number `graph`, which no
    other kernel computes. `shared` are those of its nodes that others compute too, `others` the
    nodes of every other kernel, which must stay as they are."""

    graph: int
    nodes: tuple[str, ...]
    shared: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]


class Fusion(msgspec.Struct, frozen=True):
    """A kernel of several operators, by the name that the graph of `fused` has for it, and what
    denies it. `bytes` are those of the tensors that it reads and writes."""

    name: str
    denied: Denied
    bytes: int = 0


class SessionSettings(msgspec.Struct, frozen=True):
    """What a session of any variant is opened with: the working copy, what some variants (by name)
    run in its place, and threads.

    `inputs` is an npz with the values of `input_names`, in that order, as arr_0, arr_1, …
    `custom_op_library` is registered in every session, and so is `kernel_library`, which this
    recording built for the variant; `calls` is the model as it was before its functions were
    expanded, where they were, `declared` what it said before its dynamic dimensions were fixed,
    where it had any. `compiled` is the folder where an engine that compiles keeps what it made, ''
    for the others; `denied` says which kernel a variant of it is without. `provider` is the
    execution provider of a session, '' for the CPU's. `program` is the folder of the model as a
    program for engines that have no ONNX, '' for none. `placement` is its device and its data
    type, `given` are inputs that are drawn in place of those of its function, `changed` the inputs
    and buffers that a run writes into: what they held is put back before the next one.
    """

    model: str
    inputs: str
    input_names: tuple[str, ...]
    threads: int
    spin: bool
    derived: dict[str, Derived] = {}
    custom_op_library: str | None = None
    kernel_library: str | None = None
    calls: str | None = None
    declared: str | None = None
    drawing: Drawing = Drawing()
    compiled: str = ""
    denied: dict[str, Denied] = {}
    provider: str = ""
    program: str = ""
    placement: Placement = AS_IT_IS
    given: tuple[GivenInput, ...] = ()
    changed: tuple[str, ...] = ()


class TranslateJob(msgspec.Struct, frozen=True):
    """Translate the program to the engine, and run nothing."""

    settings: SessionSettings


class DeriveJob(msgspec.Struct, frozen=True):
    """Make what `variant` runs in place of the working copy, in the empty folder `folder`.

    `rules` is the text of its rule file, None without one; `file` the other model that it runs, ''
    without one, which may keep weights in files beside it where that is allowed. `cache` is the
    user's cache folder, where what takes long to make may stay.
    """

    settings: SessionSettings
    variant: str
    folder: str
    rules: str | None = None
    seed: int = 0
    cache: str = ""
    file: str = ""
    allow_external_data: bool = True


class KernelCall(msgspec.Struct, frozen=True):
    """How a piece that is not a session runs: `function(*arrays, *numbers)` of the module `source`.

    The arrays are flat and float32: the output, unless it is written over the operand `over`;
    the operands in order; and scratch memory where `scratch` names a buffer. Operands that the
    step does not read are in the npz file `constants`, as arr_0, arr_1, … in the order of the
    operands. The output lies in buffer number `buffer`. The other fields go into the profile.
    """

    source: str
    operands: tuple[str, ...]
    numbers: tuple[int, ...]
    shape: tuple[int, ...]
    node: str
    op_name: str
    operand_shapes: tuple[tuple[int, ...], ...]
    constants: str = ""
    over: str = ""
    buffer: int | None = None
    scratch: int | None = None


class Step(msgspec.Struct, frozen=True):
    """One piece: its model file or the kernel that runs instead, what it reads and writes, and
    what nobody reads after it."""

    file: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    free: tuple[str, ...]
    kernel: KernelCall | None = None


class Steps(msgspec.Struct, frozen=True):
    """The pieces in the order they run, and the model's outputs. `buffers` are the bytes of the
    memory that kernels write to, `kernel_cache` is where their machine code is."""

    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    buffers: tuple[int, ...] = ()
    kernel_cache: str = ""


class Switches(msgspec.Struct, frozen=True):
    """What the engine may optimise: a level, and optimizers that are off nonetheless."""

    optimization: Optimization
    disabled: tuple[str, ...] = ()


class FusionsJob(msgspec.Struct, frozen=True):
    """See which kernels of several operators the engine makes of the model. The answer is a tuple
    of Fusion, in the order they run."""

    settings: SessionSettings


class OwnPassJob(msgspec.Struct, frozen=True):
    """Try our own fusion pass on the model, at its highest level; files go into the folder. The
    answer is what it fuses and the verification held, as OwnFusion."""

    settings: SessionSettings
    folder: str
    seed: int


class OptimiseJob(msgspec.Struct, frozen=True):
    """Prepare a model, have the engine optimise it as each of the `variants`, and follow its
    tensors for at most so many `seconds` each. The model's graph, with shapes as they ran, goes to
    `graph`. A share of `memory_bytes` may be tensors that are compared."""

    prepare: PrepareJob
    variants: tuple[str, ...]
    threads: int
    graph: str
    seconds: float
    memory_bytes: int


class Optimised(msgspec.Struct, frozen=True):
    """The model, and by variant the files of its graph and of the tensors that were found in it, as
    far as there are such files; `problems` says why there is no graph."""

    model: Prepared
    graphs: dict[str, str]
    matches: dict[str, str]
    problems: dict[str, str]


class StructuresJob(msgspec.Struct, frozen=True):
    """See what the engine makes of the model under each of these settings. The answer is a
    Structure for each of them, in that order."""

    settings: SessionSettings
    switches: tuple[Switches, ...]


class Structure(msgspec.Struct, frozen=True):
    """An optimised graph: equal digests, equal graphs; `op_types` counts operators by type."""

    digest: str
    op_types: dict[str, int]


class CheckJob(msgspec.Struct, frozen=True):
    """Run one variant alone: peak memory, outputs, and the graph the engine made of it.

    `reference` is the outputs file of the baseline, None for the baseline itself, which writes
    its outputs to `outputs`. The graph goes to `graph`, the engine's own file of it to `dump`.
    The baseline writes its classes to `classes`, if the model of which `model_graph` is the graph
    scores classes; other inputs are tried for that during `agreement_seconds`. An engine that finds
    the model's tensors in the same go writes them to `matches`, and one that says why it did not
    fuse more writes that to `not_fused`.
    """

    settings: SessionSettings
    variant: str
    outputs: str
    reference: str | None
    graph: str
    dump: str
    model_graph: str
    classes: str
    agreement_seconds: float
    matches: str = ""
    not_fused: str = ""


class Checked(msgspec.Struct, frozen=True):
    """`graph_problem` says why no graph was written; `setup_ns`, `run_ns` feed the estimate of
    the time left. `difference` is (absolute, relative), each None where not computable.
    `agreement_problem` says why there is none in a model that scores classes.
    `dtype_difference` is from the outputs of the model in its own types, None where it has them."""

    settings: dict[str, str | int | float | bool]
    nodes: int | None
    graph_problem: str | None
    peak_memory_bytes: int | None
    difference: tuple[float | None, float | None] | None
    setup_ns: int
    run_ns: int
    agreement: Agreement | None = None
    agreement_problem: str | None = None
    dtype_difference: tuple[float | None, float | None] | None = None


class Seen(msgspec.Struct, frozen=True):
    """What an engine tells of a variant's graph that needs a process of its own: `problem` says why
    there is none."""

    nodes: int | None = None
    problem: str | None = None
    settings: dict[str, str | int | float | bool] = {}


class MatchJob(msgspec.Struct, frozen=True):
    """Find which tensors of a variant's graph hold the values of which tensors of the model.

    `dump` is the engine's own file of that graph. The matches go to `matches`. Tensors of
    `budget_bytes` are held at a time. After `seconds` the search ends with what it has found.
    """

    settings: SessionSettings
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
    """Measure what this machine can do under the recording's thread settings; the answer is
    analysis.experiment.Peaks.

    `caches` are the machine's, arrays for the bandwidths take at most `memory_bytes`, None: as
    many as they need.
    """

    threads: int
    spin: bool
    caches: tuple[Cache, ...] = ()
    memory_bytes: int | None = None


class BlockJob(msgspec.Struct, frozen=True):
    """One block, or with spinning one lane of it.

    Every lane runs `rounds` times un-profiled; profiles go to `profiles`/<variant>.json.
    `libraries` has the library of each variant where all are releases that share the process. With
    `times_kernels` operators on a device have the times of their kernels, not of launching them.
    """

    settings: SessionSettings
    lanes: tuple[Lane, ...]
    seed: int
    attempt: int
    rounds: int
    warmup_rounds: int
    profiled_rounds: int
    profile_warmup_rounds: int
    profiled_variants: tuple[str, ...]
    profiles: str
    libraries: dict[str, str] = {}
    times_kernels: bool = False


class LaneRuns(msgspec.Struct, frozen=True):
    """Un-profiled runs of one lane, in the order of the rounds. `device_ns` is the time between two
    events of the device around each, None where there are none."""

    variant: str
    copy: int
    wall_ns: list[int]
    cpu_ns: list[int]
    device_ns: list[int] | None = None


class ProfiledRuns(msgspec.Struct, frozen=True):
    """The profile of one variant; spans only where the profile does not mark whole runs. All files
    of the `folder`, '' for none, belong to it."""

    variant: str
    file: str
    run_start_ns: list[int] | None = None
    run_dur_ns: list[int] | None = None
    folder: str = ""


class BlockMeasured(msgspec.Struct, frozen=True):
    """One block's runs. `rounds_s` is what its rounds took, None where that is the sum of the times
    of its runs. `states` are those of its device before and after them; none where nothing tells
    them."""

    lanes: list[LaneRuns]
    profiles: list[ProfiledRuns]
    rounds_s: float | None = None
    states: list[DeviceState] = []
