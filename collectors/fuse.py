"""Our own fusion pass over one model, without a recording. Imports no engine: a worker does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.files import scratch
from fusescope.collectors.files.publication import Draft, draft_for_out, is_special
from fusescope.collectors.fusion import rules
from fusescope.collectors.fusion.report import Asked, Opportunity, Outcome, Report
from fusescope.collectors.recording.request import Recording
from fusescope.collectors.workers import machine, worker
from fusescope.collectors.workers.jobs import PrepareJob

__all__ = [
    "Asked",
    "FuseJob",
    "Fused",
    "Fusing",
    "Opportunity",
    "Outcome",
    "Report",
    "built_in",
    "fuse",
]


@dataclass(frozen=True)
class Fusing:
    """What to fuse: `model` is a zoo name or a path. `rules_text` is a rule file's, called
    `rules_name`; without it `rules_name` are rules that are built in. The rewritten model goes to
    `out`, or to the next free name after it; nowhere when None. Other fields as in Recording."""

    model: str
    rules_name: str = "O3"
    rules_text: str | None = None
    out: Path | None = None
    batch: int | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0
    memory_bytes: int | None = None
    timeout: float = 300.0


class FuseJob(msgspec.Struct, frozen=True):
    """Prepare the model, fuse it, and write the result to `out` where that is not an empty text."""

    prepare: PrepareJob
    rules_name: str
    rules_text: str | None
    out: str
    threads: int


class Fused(msgspec.Struct, frozen=True):
    """`path` is where the rewritten model lies. `fixed_shapes` says why dimensions that the model
    leaves open are fixed in it, '' where they are as they were."""

    report: Report
    fixed_shapes: str = ""
    path: str | None = None


def built_in() -> tuple[str, ...]:
    """Names of the rules that need no file."""
    return rules.built_in()


def fuse(fusing: Fusing, cancelled: Callable[[], bool] = lambda: False) -> Fused:
    """Runs the pass in a worker. Raises FuseScopeError for whatever the user can act on; then
    nothing was written."""
    recording = Recording(
        model=fusing.model,
        variants=("unfused",),
        batch=fusing.batch,
        shapes=fusing.shapes,
        seed=fusing.seed,
        memory_bytes=fusing.memory_bytes,
        run_timeout=fusing.timeout,
    )
    plan = recording.plan()
    rules.check(fusing.rules_name, fusing.rules_text)
    memory = fusing.memory_bytes or machine.memory_limit_bytes()
    to = "" if fusing.out is None else str(fusing.out.absolute())
    with _draft(fusing.out) as draft:
        with scratch.folder() as folder:
            job = FuseJob(
                prepare=recording.prepare_job(plan, folder),
                rules_name=fusing.rules_name,
                rules_text=fusing.rules_text,
                out=str(draft.path) if draft is not None else to,
                threads=machine.physical_cores(),
            )
            limits = worker.Limits(memory, fusing.timeout)
            done = worker.run(
                "fuse", job, Fused, limits=limits, where=plan.model, cancelled=cancelled
            )
        if draft is None:
            return msgspec.structs.replace(done, path=to or None)
        return msgspec.structs.replace(done, path=str(_published(draft)))


def _draft(out: Path | None) -> AbstractContextManager[Draft | None]:
    """A file beside `out` to write to until it is complete; none where `out` is a device."""
    if out is None or is_special(out):
        return nullcontext()
    if out.is_dir():
        raise FuseScopeError("output_is_a_folder", where=str(out), option="--out")
    return draft_for_out(out.absolute())


def _published(draft: Draft) -> Path:
    try:
        return draft.publish_numbered()
    except OSError as error:
        where = str(draft.target)
        if isinstance(error, FileExistsError):
            raise FuseScopeError("every_name_taken", where=where) from None
        reason = (error.strerror or str(error)).lower()
        raise FuseScopeError("model_unwritable", where=where, reason=reason) from None
