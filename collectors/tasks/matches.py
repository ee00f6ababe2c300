"""Which tensors of an optimised graph hold the values of which tensors of the model.

Optimisers rename tensors. The model and the engine's own file of the optimised graph both run on
the inputs of the recording, every optimisation off, with their intermediate tensors as outputs.
Tensors of one name are compared; for any other the one tensor of the model with the same values
is looked for, under the layouts that the engine uses. Where values repeat because the weights
do, the search is done again on a copy of the model with random weights.
"""

from __future__ import annotations

import math
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import TensorMatch
from fusescope.collectors.derive import reseeding
from fusescope.collectors.derive.sessions import own_settings
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.candidates import Candidates, Pair, sizes
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.tensors.intermediates import Intermediates, OutOfTime
from fusescope.collectors.tensors.sketches import distance, signed
from fusescope.collectors.tensors.tolerances import tolerance_of
from fusescope.collectors.variants import find
from fusescope.collectors.workers.jobs import Codes, Matched
from fusescope.collectors.workers.jobs import MatchJob as Job

# Relative distance (collectors/tensors/sketches.py) up to which rounding explains a difference
QUANTISED_TOLERANCE = 0.05  # in a model of 8 bits: a few values one step apart
EXACT = 1e-12  # of other integers
KNOWN_TOLERANCE = 0.25  # of one name, or proven: rounding adds up, a wrong name is far above
CODES_TOLERANCE = 0.7  # likewise in 8 bits throughout; unrelated tensors are about 1.4 apart
_TOKEN = re.compile(r"_token_\d+$")  # what the engine adds to a name that it has used
COPIES = {
    "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Dropout", "Cast",
}  # fmt: skip


def out_of_time(seconds: float) -> str:
    """Return why tensors of two graphs were not all compared within so many seconds."""
    if seconds < 1:
        return "no time was left to compare the tensors of both graphs"
    return f"comparing the tensors of both graphs was ended after {seconds:.0f} s"


def run(job: Job) -> Matched:
    """Writes the matches as the job says. Time that runs out ends the search, not more."""
    folder = Path(job.matches).with_suffix(".parts")
    folder.mkdir(parents=True)
    search = _Search(job, folder)
    problem = None
    try:
        search.run()
        search.compare_dequantised()
    except OutOfTime:
        problem = out_of_time(job.seconds)
    except FuseScopeError as error:
        problem = error.text
    except Exception as error:  # noqa: BLE001 - the engine raises many kinds; what is known is kept
        problem = clean(str(error)) or type(error).__name__
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    Path(job.matches).write_bytes(msgspec.json.encode(search.result()))
    return Matched(refuted=search.refuted, unknown=len(search.unknown()), problem=problem)


class _Search:
    """One search; `matches` grows, so that what is known can be kept at any time.

    A quantised variant's graph is compared with the quantised model that the engine was given;
    `result` names the tensors of the model itself.
    """

    def __init__(self, job: Job, folder: Path) -> None:
        derived = job.settings.derived.get(job.variant)
        own = own_settings(job.settings, find(job.variant))
        job = msgspec.structs.replace(job, settings=own)
        self._codes: Codes | None = None
        self._unquantised = job.settings
        if derived is not None and derived.codes is not None:
            self._codes = msgspec.json.decode(Path(derived.codes).read_bytes(), type=Codes)
            settings = msgspec.structs.replace(job.settings, model=derived.model)
            job = msgspec.structs.replace(job, settings=settings)
        self._dequantised: dict[str, tuple[float | None, float | None]] = {}
        self._job = job
        self._folder = folder
        self._deadline = time.monotonic() + job.seconds
        self._wanted: list[str] = []
        self._float_tolerance = tolerance_of(())
        self.matches: list[TensorMatch] = []
        self.refuted = 0

    def run(self) -> None:
        """By name, then by value, then by value with other weights."""
        settings = self._job.settings
        model = self._opened(settings.model, "model", on_cpu=True)
        graph = self._opened(self._job.dump, "graph")
        dtypes = {*model.dtypes.values(), *graph.dtypes.values()}
        if dtypes & {"int8", "uint8"}:
            self._float_tolerance = QUANTISED_TOLERANCE
        else:
            self._float_tolerance = tolerance_of(dtypes)
        known = set(model.names())
        named = [name for name in graph.names() if name in known]
        self._wanted = [name for name in graph.names() if name not in known]
        refuted = self._confirm(model, graph, [Pair(name, name, "name") for name in named])
        self.refuted = len(refuted)
        self.matches += [TensorMatch(name, name, "refuted") for name in sorted(refuted)]
        self._wanted = [name for name in graph.names() if name not in known or name in refuted]
        self._confirm(model, graph, self._by_value(model, graph, self._wanted))
        if self._codes is None:
            self._with_random_weights(model, graph)
        else:
            self._confirm(model, graph, self._by_node(model, graph))

    def compare_dequantised(self) -> None:
        """How far quantisation moved the tensors that have been found."""
        if self._codes is None:
            return
        wanted = dict.fromkeys(match.original for match in self.result() if match.by != "refuted")
        quantised = self._opened(self._job.settings.model, "dequantised")
        self._job = msgspec.structs.replace(self._job, settings=self._unquantised)
        model = self._opened(self._job.settings.model, "unquantised")
        pairs = [
            Pair(self._codes.dequantised.get(name, name), name, "value")
            for name in wanted
            if name in model.varying
        ]
        for group in _groups(pairs, model, quantised, self._job.budget_bytes):
            ours = model.values([pair.original for pair in group])
            theirs = quantised.values([pair.optimised for pair in group])
            for pair in group:
                if pair.original in ours and pair.optimised in theirs:
                    a, b = ours[pair.original], theirs[pair.optimised]
                    self._dequantised[pair.original] = difference_of([a], [b])

    def result(self) -> list[TensorMatch]:
        """The matches, by the names of the model that was recorded."""
        if self._codes is None:
            return self.matches
        found: dict[tuple[str, str], TensorMatch] = {}
        for match in self.matches:
            original = self._codes.originals.get(match.original)
            if original is None:
                continue
            absolute, relative = self._dequantised.get(original, (None, None))
            by = match.by if original == match.optimised or match.by == "refuted" else "value"
            if match.by == "refuted" and original != match.optimised:
                continue  # the model has no tensor of that name, so nothing is to be refuted
            row = TensorMatch(original, match.optimised, by, match.layout, absolute, relative)
            found.setdefault((original, match.optimised), row)
        return list(found.values())

    def unknown(self) -> list[str]:
        """Tensors of the optimised graph without a match, those of a known name left out."""
        matched = {match.optimised for match in self.matches if match.by != "refuted"}
        return [name for name in self._wanted if name not in matched]

    def _opened(self, file: str | Path, folder: str, *, on_cpu: bool = False) -> Intermediates:
        """By the variant's provider, if it has one, unless the values are to be the CPU's."""
        settings = self._job.settings
        return Intermediates(
            Path(file),
            msgspec.structs.replace(settings, provider="") if on_cpu else settings,
            self._folder / folder,
            budget_bytes=self._job.budget_bytes,
            deadline=self._deadline,
        )

    def _with_random_weights(self, model: Intermediates, graph: Intermediates) -> None:
        """The search again, for tensors that no value told apart, on a re-seeded copy."""
        unclear = self._unclear(model, graph)
        if not unclear:
            return
        copy = reseeding.reseeded(self._job, graph.nodes, self._folder / "reseeded")
        if copy is None:
            return
        model_copy = self._opened(copy.model, "reseeded/model")
        graph_copy = self._opened(copy.dump, "reseeded/graph")
        renamed = {copy.names[name]: name for name in unclear if name in copy.names}
        found = self._by_value(model_copy, graph_copy, list(renamed))
        pairs = [replace(pair, optimised=renamed[pair.optimised], proven=True) for pair in found]
        known = len(self.matches)
        try:
            self._confirm(model, graph, pairs)
        finally:
            old, new = self.matches[:known], self.matches[known:]
            again = {match.optimised for match in new}
            kept = [m for m in old if m.by == "refuted" or m.optimised not in again]
            self.matches = kept + new

    def _unclear(self, model: Intermediates, graph: Intermediates) -> list[str]:
        """Float tensors without a match, or with several that no copying operator explains."""
        copies = _copies(model)
        originals: dict[str, set[str]] = {}
        for match in self.matches:
            if match.by == "refuted":
                continue
            name = copies.get(match.original, match.original)
            originals.setdefault(match.optimised, set()).add(name)
        return [
            name
            for name in self._wanted
            if len(originals.get(name, ())) != 1 and graph.dtypes.get(name, "").startswith("float")
        ]

    def _by_value(
        self, model: Intermediates, graph: Intermediates, wanted: Sequence[str]
    ) -> list[Pair]:
        """The pairs of equal values, for the wanted tensors of the optimised graph."""
        if not wanted:
            return []
        counts: set[int] = set()
        for name in wanted:
            if name in graph.shapes:
                counts |= sizes(graph.shapes[name], name in graph.blocked)
        candidates = Candidates()
        possible = [
            name
            for name in (*model.inputs, *model.names())
            if name not in model.shapes or math.prod(model.shapes[name]) in counts
        ]
        for chunk in model.chunks(possible):
            for name, array in model.values(chunk).items():
                candidates.add(name, array)
        pairs: list[Pair] = []
        for chunk in graph.chunks(wanted):
            for name, array in graph.values(chunk).items():
                blocked, tolerance = name in graph.blocked, self._tolerance(array)
                pairs += candidates.pairs(name, array, blocked, tolerance)
        return pairs

    def _by_node(self, model: Intermediates, graph: Intermediates) -> list[Pair]:
        """What quantised operators write: they keep the name of the operator, and their steps of
        rounding add up along the model until no value is near enough by itself."""
        coded = {n.inputs[0]: n.outputs[0] for n in model.nodes if n.op_type == "QuantizeLinear"}
        outputs = {node.name: node.outputs[0] for node in model.nodes if node.outputs}
        unknown = set(self.unknown())
        pairs = []
        for node in graph.nodes:
            made = outputs.get(_TOKEN.sub("", node.name))
            if made is None or not node.outputs or node.outputs[0] not in unknown:
                continue
            name = node.outputs[0]
            in_codes = graph.dtypes.get(name) in ("int8", "uint8")
            original = coded.get(made, "") if in_codes else made
            ours, theirs = model.shapes.get(original), graph.shapes.get(name)
            if ours is None or theirs is None:
                continue
            if ours == theirs:
                pairs.append(Pair(name, original, "value", proven=True))
            if len(ours) > 2 and theirs == (ours[0], *ours[2:], ours[1]):  # channels last
                axes = (0, len(ours) - 1, *range(1, len(ours) - 1))
                pair = Pair(name, original, "value", shape=theirs, axes=axes, proven=True)
                pairs.append(pair)
        return pairs

    def _confirm(
        self, model: Intermediates, graph: Intermediates, pairs: Sequence[Pair]
    ) -> set[str]:
        """Adds the pairs whose values agree to the matches, with their differences.

        Returns the tensors whose values do not.
        """
        refuted: set[str] = set()
        for group in _groups(pairs, model, graph, self._job.budget_bytes):
            ours = model.values(list(dict.fromkeys(pair.original for pair in group)))
            theirs = graph.values(list(dict.fromkeys(pair.optimised for pair in group)))
            for pair in group:
                if pair.original not in ours or pair.optimised not in theirs:
                    continue
                a, b = ours[pair.original], pair.arranged(theirs[pair.optimised])
                if not self._agree(pair, a, b):
                    refuted.add(pair.optimised)
                    continue
                a, b = signed(a), signed(b)
                absolute, relative = difference_of([a.reshape(-1)], [b.reshape(-1)])
                self.matches.append(
                    TensorMatch(
                        pair.original, pair.optimised, pair.by, pair.layout, absolute, relative
                    )
                )
        return refuted

    def _agree(self, pair: Pair, a: Array, b: Array) -> bool:
        tolerance = self._tolerance(b)
        if pair.by == "name" and a.dtype != b.dtype:
            return False
        if pair.by == "name" or pair.proven:
            tolerance = KNOWN_TOLERANCE if self._codes is None else CODES_TOLERANCE
        a, b = signed(a), signed(b)
        if a.size != b.size or a.dtype.kind != b.dtype.kind:
            return False
        if a.dtype.kind not in "fiub":
            return bool(np.array_equal(a.reshape(-1), b.reshape(-1)))
        return distance(a, b) <= tolerance

    def _tolerance(self, array: Array) -> float:
        if array.dtype.itemsize == 1:
            return QUANTISED_TOLERANCE
        return self._float_tolerance if array.dtype.kind == "f" else EXACT


def _copies(model: Intermediates) -> dict[str, str]:
    """Tensor -> the tensor that it is a copy of, by operators that only copy."""
    origin: dict[str, str] = {}
    for node in model.nodes:
        if node.op_type in COPIES and node.inputs and node.outputs:
            origin[node.outputs[0]] = origin.get(node.inputs[0], node.inputs[0])
    return origin


def _groups(
    pairs: Sequence[Pair], model: Intermediates, graph: Intermediates, budget_bytes: int
) -> Iterator[list[Pair]]:
    """The pairs in order, in groups whose tensors fit into the budget together."""
    group: list[Pair] = []
    used = 0
    for pair in pairs:
        size = model.bytes_of(pair.original) + graph.bytes_of(pair.optimised)
        if group and used + size > budget_bytes:
            yield group
            group, used = [], 0
        group.append(pair)
        used += size
    if group:
        yield group
