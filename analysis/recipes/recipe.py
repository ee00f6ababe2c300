"""Recipe: what is asked, what is recorded to answer it, and what others published."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.messages import Message
from fusescope.analysis.quantity import Basis

# As the recorder runs a block (collectors/recording/blocks.py): runs before those that count.
WARMUP_ROUNDS = 3
PROFILE_WARMUP_ROUNDS = 2
# For the length of a recording before there is one of this machine.
DENSE_FLOPS_PER_S = 60e9  # of one thread, in a model of dense convolutions
LIGHT_FLOPS_PER_S = 20e9  # where convolutions are depthwise or atrous
_BYTES_PER_S = 8e9
_BLOCK_S = 2.0  # a process and its imports
_LANE_S = 0.5  # a session, and another for its profile
_TRIAL_S = 6.0  # making a variant, trying it alone, following its tensors
_START_S = 15.0  # the model and the machine's peaks


@dataclass(frozen=True)
class Step:
    """One line of the table: a variant, what it is called, and what it adds to the line before."""

    variant: str
    label_message: Message
    adds_message: Message

    @property
    def label(self) -> str:
        """What it is called."""
        return self.label_message.text()

    @property
    def adds(self) -> str:
        """What it adds, without a full stop."""
        return self.adds_message.text()


@dataclass(frozen=True)
class Published:
    """A figure that others published: values by the variant of ours that each stands beside.

    `code` is the column it belongs to; without such a column it is only told. `basis` is theirs.
    `note_message` says what is odd about it, in sentences.
    """

    code: str
    values: tuple[tuple[str, float], ...]
    unit: str
    basis: Basis = "measured"
    note_message: Message | None = None

    @property
    def note(self) -> str:
        """What is odd about it; '' for nothing."""
        return "" if self.note_message is None else self.note_message.text()


@dataclass(frozen=True)
class Work:
    """What one run does, per sample: floating-point operations, at an assumed rate of one thread,
    and bytes, whichever limits."""

    flops: float = 0.0
    bytes: float = 0.0
    flops_per_s: float = DENSE_FLOPS_PER_S


@dataclass(frozen=True)
class Recipe:
    """What to record and to show.

    `batch` and `threads` None mean the model's and the machine's own. `blocks` processes of
    `rounds` runs a variant each, and `profiled_rounds` profiled ones. `mean_runs` is how many runs
    the published mean was of, 0 where no number was told. `columns` are codes of figures.
    `why_messages` are sentences. `graph` asks for the operators of each step in order. `baseline`
    is whose outputs the others are compared with, and which runs twice as control. `runtime` is the
    engine. `compare` is the pair of variants that says most. `source_message` is whose figures were
    published.
    """

    name: str
    title_message: Message
    question_message: Message
    model: str
    steps: tuple[Step, ...]
    columns: tuple[str, ...]
    why_messages: tuple[Message, ...]
    work: Work
    compare: tuple[str, str]
    published: tuple[Published, ...] = ()
    source_message: Message | None = None
    batch: int | None = None
    threads: int | None = None
    blocks: int = 8
    rounds: int = 13
    profiled_rounds: int = 3
    mean_runs: int = 0
    graph: bool = False
    baseline: str = "unfused"
    runtime: str = "onnxruntime"

    @property
    def title(self) -> str:
        """What it is called."""
        return self.title_message.text()

    @property
    def question(self) -> str:
        """What it asks, in a sentence or two."""
        return self.question_message.text()

    @property
    def source(self) -> str:
        """Whose figures were published; '' where none were."""
        return "" if self.source_message is None else self.source_message.text()

    @property
    def why_differ(self) -> tuple[str, ...]:
        """Why ours differ from what was published, in sentences."""
        return tuple(message.text() for message in self.why_messages)

    @property
    def variants(self) -> tuple[str, ...]:
        """What is recorded, in the order of the steps."""
        return tuple(step.variant for step in self.steps)

    @property
    def needs_compiler(self) -> bool:
        """Whether kernels of one's own are compiled, for which numba must be installed."""
        return any(name.startswith("custom:") for name in self.variants)

    @property
    def same_cut(self) -> tuple[str, str] | None:
        """The kernel of one's own against the same cut without it, which tells what the kernel is
        worth apart from the cut; None where `compare` has no such kernel, or is that pair."""
        kind, _, kernel = self.compare[1].partition(":")
        twin = f"segments:{kernel}"
        if kind != "custom" or twin not in self.variants or self.compare[0] == twin:
            return None
        return twin, self.compare[1]

    @property
    def runs(self) -> int:
        """Un-profiled runs of each step that count."""
        return self.blocks * self.rounds

    def seconds(self, record: ExperimentRecord | None = None, blocks: int | None = None) -> float:
        """About how long recording takes, from what an earlier recording took, else what runs.

        Every block is a process with two sessions of each variant and of the second copy of the
        baseline, and their runs. A run takes as long as in `record`, an earlier recording of it;
        without one, as long as its work at assumed rates.
        """
        if record is not None and (known := self._recorded_s(record, blocks)) is not None:
            return known
        lanes = (*self.variants, self.baseline)
        run_s = dict.fromkeys(lanes, self._assumed_run_s())
        if record is not None:
            run_s |= {
                variant.name: sum(variant.samples.wall_ns) / len(variant.samples.wall_ns) / 1e9
                for variant in record.variants
                if variant.name in run_s and variant.samples.wall_ns
            }
        runs = WARMUP_ROUNDS + self.rounds + PROFILE_WARMUP_ROUNDS + self.profiled_rounds
        block_s = _BLOCK_S + sum(_LANE_S + runs * run_s[name] for name in lanes)
        return _START_S + _TRIAL_S * len(self.variants) + (blocks or self.blocks) * block_s

    def _recorded_s(self, record: ExperimentRecord, blocks: int | None) -> float | None:
        """As `record` took for the same work a block; None where it was other work."""
        preparation_s, block_s = record.outcome.preparation_s, record.outcome.block_s
        same = set(self.variants) == {variant.name for variant in record.variants}
        if preparation_s is None or block_s is None or not same:
            return None
        if (record.settings.rounds, record.settings.profiled_rounds) != (
            self.rounds,
            self.profiled_rounds,
        ):
            return None
        return preparation_s + (blocks or self.blocks) * block_s

    def _assumed_run_s(self) -> float:
        arithmetic = self.work.flops / (self.work.flops_per_s * (self.threads or 2))
        return max(arithmetic, self.work.bytes / _BYTES_PER_S) * (self.batch or 1)
