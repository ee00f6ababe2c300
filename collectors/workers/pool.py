"""The workers of one recording: what each task may take, and what one that fails is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from fusescope.collectors.models.custom_ops import Library
from fusescope.collectors.workers import addressing, visible, worker
from fusescope.collectors.workers.placement import AS_IT_IS, Placement

DEVICE_TASK = "device"  # which sees all devices, to say whether the one that is meant is there

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class WorkerPool:
    """`name` is the model's, for errors. A task may take `memory_bytes` of memory and `seconds`,
    unless it is given others. `library` is registered in every session; `python` is that of the
    engine's environment, None for FuseScope's own, and `brought` packages of FuseScope's that its
    workers lack there. Tasks of an engine that has its own start
    with `prefix`. With `has_device` the memory is resident memory everywhere. What lies in
    `packages`, another release of the engine, is imported in place of what FuseScope was
    installed with; for tasks of a variant that `releases` names, what lies there. In a
    recording of several engines `engines` are the workers of each, and do the tasks that are
    about one of its variants."""

    name: str
    memory_bytes: int
    seconds: float
    library: Library | None
    cancelled: Callable[[], bool]
    python: Path | None = None
    prefix: str = ""
    packages: Path | None = None
    releases: Mapping[str, Path] = field(default_factory=dict)
    engines: Mapping[str, WorkerPool] = field(default_factory=dict)
    has_device: bool = False
    placement: Placement = AS_IT_IS
    brought: tuple[str, ...] = ()

    def run(
        self, task: str, job: msgspec.Struct, answer: type[Answer], seconds: float | None = None
    ) -> Answer:
        """Does the task in a worker. Raises FuseScopeError where it fails or the library has
        changed, worker.Cancelled where the recording is no longer wanted."""
        engine = addressing.engine_of(addressing.variant_of(job)) if self.engines else ""
        if engine:
            own = addressing.for_engine(job, engine)
            return addressing.for_recording(
                self.engines[engine].run(task, own, answer, seconds), engine
            )
        library = self.library
        result = worker.run(
            self.prefix + task,
            job,
            answer,
            limits=worker.Limits(self.memory_bytes, seconds or self.seconds, self.has_device),
            where=self.name if library is None or task != "library" else library.name,
            cancelled=self.cancelled,
            library=library.name if library is not None else "",
            python=self.python,
            packages=self._packages(job),
            brought=self.brought,
            devices=visible.environment(self.placement, whole=task == DEVICE_TASK),
        )
        if library is not None:
            library.check_unchanged()
        return result

    def _packages(self, job: msgspec.Struct) -> Path | None:
        """What a job for one variant is to import; a job for several releases imports none."""
        if getattr(job, "libraries", None):
            return None
        return self.releases.get(addressing.variant_of(job), self.packages)

    def at_home(self) -> WorkerPool:
        """The same with FuseScope's own Python and engine."""
        return replace(self, python=None, prefix="", packages=None, engines={}, brought=())

    def with_packages(self, packages: Path) -> WorkerPool:
        """The same with another release of FuseScope's own engine."""
        return replace(self, packages=packages)
