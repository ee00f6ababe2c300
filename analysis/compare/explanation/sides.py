"""One side of an explanation: the kernels of one unit in order, with their names and modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from fusescope.analysis.align.repeats import Repeat, fold, walk
from fusescope.analysis.align.sequence import Kernel
from fusescope.analysis.align.sequence import Sequence as KernelSequence
from fusescope.analysis.compare.explanation.explanation import KernelTime, OtherKernels, ShapedTime
from fusescope.analysis.host.idle import HostIdle, idle_by_host
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.exposure import exposed_collectives
from fusescope.analysis.metrics.kernel_types import short_operator_names
from fusescope.analysis.metrics.spans import busy_until, call_times, union_ns
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import Units
from fusescope.analysis.work_units.profile import Profile, profile_of
from fusescope.analysis.work_units.units import OUTSIDE

_OPERATOR = re.compile(
    r"[\w.]+::"
)  # of a framework; 'aten::mul', 'flash_attn::_flash_attn_forward'
_MODULE = "nn.Module: "
_LIBRARY = re.compile(r"^(?:hcom_|(?:nccl|rccl)(?:Dev)?Kernel_)")
_CALL = re.compile(r"(?:_+\d+)+_*$")
_NUMBER = re.compile(r"_\d+$")
_UNEVEN = 1.25  # times the shortest mean execution, from which another of that name differs


@dataclass(frozen=True, eq=False)
class ExplainedSide:
    """A trace by its units of work. `profile` has the kernels of a unit without communication,
    which is in `communication`: how many collectives of a unit, and their time in ns, by name."""

    trace: Trace
    units: Units
    profile: Profile
    communication: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, trace: Trace, units: Units) -> ExplainedSide:
        """Return the side of a trace with these units."""
        whole = profile_of(trace, units)
        talks = trace.operators["is_communication"].to_numpy(dtype=bool)
        extra = {at: ns for at, ns in whole.extra_ns.items() if not talks[at]}
        profile = replace(whole.taken(~talks[whole.operators]), extra_ns=extra)
        return cls(trace, units, profile, _communication(trace, units, talks))

    @cached_property
    def exposed(self) -> Mapping[str, float] | None:
        """Return for each name in `communication` how long its collectives run in a unit while
        nothing is computed, in ns; None where the file has no starts."""
        exposed_ns = exposed_collectives(self.trace)
        if exposed_ns is None:
            return None
        return {
            name: float(exposed_ns[self.collective_calls(name)].sum()) / self.units.count
            for name in self.communication
        }

    @cached_property
    def ns(self) -> np.ndarray:
        """The mean time of each kernel of a unit, in ns."""
        return self.profile.totals_ns / max(1, self.profile.count)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The distinct operators of the trace as kernels that alignment compares."""
        columns = ("name", "op_type", "op_class", "inputs")
        texts = zip(*(self.trace.texts(column) for column in columns), self.launchers, strict=True)
        return tuple(
            Kernel(name, op_type or name, op_class, f"{by} {inputs}" if by and inputs else "")
            for name, op_type, op_class, inputs, by in texts
        )

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The shapes of the inputs of each operator of the trace, '' where they are not known."""
        return tuple(self.trace.texts("inputs"))

    @cached_property
    def launchers(self) -> tuple[str, ...]:
        """The operator of the framework that launched each operator of the trace, '' for none."""
        names = self.trace.texts("launched_by")
        return tuple(name if _OPERATOR.match(name) else "" for name in names)

    @cached_property
    def sequence(self) -> KernelSequence:
        """The kernels of one unit in order, each with its mean time."""
        return KernelSequence(
            self.kernels,
            self.profile.operators,
            np.rint(self.ns).astype("int64"),
            self.profile.streams,
        )

    @cached_property
    def names(self) -> Sequence[str]:
        """A short name of each operator of the trace."""
        return short_operator_names(self.trace)

    @cached_property
    def modules(self) -> tuple[tuple[str, ...], ...]:
        """The types of the modules around each kernel of a unit, outermost first."""
        stacks = self.trace.stacks
        if stacks is None:
            return ((),) * len(self.profile.calls)
        return self._modules_at(stacks, stacks.of(self._rows))

    @cached_property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """The same, of a kernel of a backward pass the modules around the forward operator that it
        belongs to."""
        stacks = self.trace.stacks
        if stacks is None or stacks.forward is None:
            return self.modules
        forward = self._modules_at(stacks, stacks.forward_of(self._rows))
        return tuple(of or own for of, own in zip(forward, self.modules, strict=True))

    @cached_property
    def _rows(self) -> np.ndarray:
        """The row of the file of each kernel of a unit."""
        rows: np.ndarray = self.trace.calls["source_row"].to_numpy("int64", na_value=-1)
        chosen: np.ndarray = rows[self.profile.calls]
        return chosen

    @staticmethod
    def _modules_at(stacks: Stacks, nodes: np.ndarray) -> tuple[tuple[str, ...], ...]:
        paths: list[tuple[str, ...]] = []
        for name, parent in zip(stacks.names, stacks.parents.tolist(), strict=True):
            above = paths[parent] if parent >= 0 else ()
            is_module = name.startswith(_MODULE)
            paths.append((*above, _NUMBER.sub("", name[len(_MODULE) :])) if is_module else above)
        return tuple(paths[node] if node >= 0 else () for node in nodes.tolist())

    @cached_property
    def idle(self) -> HostIdle | None:
        """Return the idle time of the units by the stack of the host; None where the file does not
        show the host, or has no start of its units."""
        starts = self.units.starts_ns
        if (starts < 0).any():
            return None
        return idle_by_host(self.trace, starts, starts + self.units.walls_ns)

    @property
    def has_starts(self) -> bool:
        """Return whether the file says when each call began."""
        return bool(self.trace.calls["start_ns"].notna().all())

    @cached_property
    def busy_ns(self) -> float:
        """The mean time of a unit in which anything runs on the device."""
        return float(self.busy_of_units.mean()) if self.units.count else 0.0

    @cached_property
    def busy_of_units(self) -> np.ndarray:
        """The time of each unit in which anything runs, of whatever unit; where the file has no
        start of its units, that of their own calls, and without starts of calls their sum."""
        starts, lasts = call_times(self.trace.calls)
        units = self.units
        if not self.has_starts:
            of, own = units.unit_of, units.unit_of != OUTSIDE
            return np.bincount(of[own], weights=lasts[own], minlength=units.count)
        if (units.starts_ns < 0).any():
            order = np.argsort(units.unit_of, kind="stable")
            edges = np.searchsorted(units.unit_of[order], np.arange(units.count + 1))
            own_calls = np.split(order, edges)[1:-1]
            return np.array([union_ns(starts[calls], lasts[calls]) for calls in own_calls])
        edges = np.stack((units.starts_ns, units.starts_ns + units.walls_ns), axis=1)
        until = busy_until(starts, lasts)
        inside: np.ndarray = until(edges[:, 1]) - until(edges[:, 0])
        return inside

    @cached_property
    def repeats(self) -> tuple[tuple[int, Repeat], ...]:
        """What repeats in the order of a unit's kernels, by family, with its depth."""
        return tuple(walk(fold(self.families)))

    @cached_property
    def families(self) -> np.ndarray:
        """A number for the family of each kernel of a unit, equal for equal families."""
        names = [kernel.family for kernel in self.kernels]
        of, _ = pd.factorize(np.array(names, dtype=object))
        families: np.ndarray = of[self.profile.operators]
        return families

    @cached_property
    def count(self) -> float:
        """How many kernels and collectives a unit has, on average."""
        return float((self.units.unit_of >= 0).sum()) / max(1, self.units.count)

    @cached_property
    def others(self) -> frozenset[OtherKernels]:
        """The kinds of what a unit runs besides kernels that compute."""
        found: set[OtherKernels] = set()
        if self.are_copies[self.profile.operators].any():
            found.add("copies")
        if self.communication:
            found.add("collectives")
        return frozenset(found)

    @cached_property
    def are_copies(self) -> np.ndarray:
        """A mask of the operators of the trace that are copies or fills of memory."""
        return copies_of(self.trace)

    @cached_property
    def kernels_ns(self) -> float:
        """The mean time of all kernels and collectives of a unit, in ns: their sum, which is more
        than the time in which anything runs where streams overlap."""
        return self.profile.kernels_ns / max(1, self.profile.count) + sum(
            ns for _, ns in self.communication.values()
        )

    def heaviest(self, most: int) -> tuple[ShapedTime, ...]:
        """Return the kernels of most time of a unit, at most so many, those of other shapes
        apart."""
        columns = [self.trace.operators[column].array for column in ("name", "inputs")]
        names, inputs = (column.codes.astype("int64") + 1 for column in columns)
        pairs = names * (int(inputs.max(initial=0)) + 1) + inputs
        of, known = pd.factorize(pairs[self.profile.operators])
        totals = np.bincount(of, weights=self.ns, minlength=len(known))
        flops = self.trace.operators["flops"]
        found = []
        for place in np.argsort(-totals, kind="stable")[:most].tolist():
            executions = np.flatnonzero(of == place)
            operators, each = self.profile.operators[executions].tolist(), self.ns[executions]
            counts = flops.iloc[operators]
            kernel = operators[0]
            time = KernelTime(
                self.names[kernel],
                len(operators),
                round(float(totals[place])),
                self.kernels[kernel].op_class,
            )
            all_flops = None if counts.isna().any() else int(counts.sum())
            shortest, longest = round(float(each.min())), round(float(each.max()))
            found.append(ShapedTime(time, self.inputs[kernel], all_flops, shortest, longest))
        return tuple(found)

    def calls_at(self, positions: np.ndarray) -> np.ndarray:
        """Return the rows of the trace's calls at these positions of a unit, without those that
        are -1."""
        calls: np.ndarray = self.profile.calls[positions[positions >= 0]]
        return calls

    def collective_calls(self, name: str) -> np.ndarray:
        """Return the rows of the calls of a collective in all units."""
        names = self.trace.texts("name")
        talks = self.trace.operators["is_communication"].to_numpy(dtype=bool)
        of = [at for at in np.flatnonzero(talks).tolist() if collective(names[at]) == name]
        is_it = np.isin(self.trace.calls["operator"].to_numpy(), of) & (self.units.unit_of >= 0)
        return np.flatnonzero(is_it)

    def times_of(self, positions: Iterable[int], ns: Iterable[float]) -> tuple[KernelTime, ...]:
        """Return the kernels at these positions of a unit by name, with these times, the one of
        most time first."""
        totals: dict[int, list[float]] = {}
        for position, time_ns in zip(positions, ns, strict=True):
            entry = totals.setdefault(int(self.profile.operators[position]), [0, 0.0])
            entry[0] += 1
            entry[1] += time_ns
        return self.named_times(totals)

    def named_times(self, totals: Mapping[int, Sequence[float]]) -> tuple[KernelTime, ...]:
        """Return operators of the trace, with count and ns of each, by name."""
        named: dict[tuple[str, str, bool, str], list[float]] = {}
        means: dict[tuple[str, str, bool, str], list[float]] = {}
        for operator, (count, ns) in totals.items():
            is_copy, kernel = bool(self.are_copies[operator]), self.kernels[operator]
            key = (self.names[operator], kernel.op_class, is_copy, kernel.family)
            entry = named.setdefault(key, [0, 0.0])
            entry[0] += count
            entry[1] += ns
            if count:
                means.setdefault(key, []).append(ns / count)
        ranked = sorted(named.items(), key=lambda item: -item[1][1])
        return tuple(
            KernelTime(
                key[0], count, round(ns), key[1], key[2], key[3], _differ(means.get(key, ()))
            )
            for key, (count, ns) in ranked
        )

    def module_of(self, positions: Sequence[int]) -> tuple[str, ...]:
        """Return the two innermost modules that all these kernels share; none where they differ."""
        paths = {self.places[position] for position in positions}
        common: list[str] = []
        for level in zip(*paths, strict=False):
            if len(set(level)) > 1:
                break
            common.append(level[0])
        return tuple(common[-2:])


def _communication(
    trace: Trace, units: Units, talks: np.ndarray
) -> Mapping[str, tuple[float, float]]:
    """Return the collectives of a unit by name without their numbers: how many, and their time."""
    calls = trace.calls
    operators = calls["operator"].to_numpy()
    chosen = np.flatnonzero(talks[operators] & (units.unit_of >= 0))
    names = trace.texts("name")
    found: dict[str, tuple[float, float]] = {}
    for operator, dur_ns in zip(
        operators[chosen].tolist(), calls["dur_ns"].to_numpy()[chosen].tolist(), strict=True
    ):
        name = collective(names[operator])
        count, ns = found.get(name, (0.0, 0.0))
        found[name] = (count + 1 / units.count, ns + dur_ns / units.count)
    return found


def _differ(times_ns: Sequence[float]) -> bool:
    """Return whether one of these times is far longer than another."""
    return bool(times_ns) and max(times_ns) > _UNEVEN * min(times_ns)


def collective(name: str) -> str:
    """Return what a collective is called, without its library and the numbers of the call:
    'hcom_batchSendRecv__128_4_1' is batchSendRecv, 'ncclDevKernel_SendRecv(…)' is SendRecv."""
    short = _CALL.sub("", _LIBRARY.sub("", name.split("(")[0]))
    return name.split("(")[0] if short in ("", "Generic") else short
