"""Whether releases of an engine can run in one process, which is tried before the first block.

Two processes differ by more than two sessions of one, so ratios of releases are worth more where
all of them share a process. What keeps them from it is told, and each gets processes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said, language
from fusescope.collectors.recording.blocks import lanes
from fusescope.collectors.recording.request import Plan, Recording, Value
from fusescope.collectors.releases import kept
from fusescope.collectors.workers.jobs import BlockJob, BlockMeasured, Lane, SessionSettings

_NOT_ALL = Message("a variant is not a release of the engine")
_NO_LIBRARY = Message("the package of a release has no library of its own")
_SPINNING = Message("idle threads spin")
_OWN_OPERATORS = Message("a library of the user's operators is registered")
_REFUSED = Message("{reason:name}")


@dataclass(frozen=True)
class Sharing:
    """The library of each variant where all are releases that run in one process; else why not,
    None where no variant is a release."""

    libraries: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    why_not: Message | Said | None = None

    @property
    def settings(self) -> dict[str, Value]:
        """What the records of the variants say of it."""
        if self.libraries:
            return {"releases_share_process": True}
        if self.why_not is None:
            return {}
        with language.speaking(language.ENGLISH):
            return {"releases_alone_because": str(self.why_not)}

    def lanes(self, plan: Plan) -> tuple[Lane, ...]:
        """The sessions of a block: of releases in one process two of each, else two of the baseline
        alone."""
        once = lanes(plan.names, plan.baseline)
        if not self.libraries:
            return once
        return (*once, *(Lane(name, 2) for name in plan.names if name != plan.baseline))


def sharing(
    recording: Recording,
    plan: Plan,
    settings: SessionSettings,
    folder: Path,
    run: Callable[[BlockJob], BlockMeasured],
) -> Sharing:
    """Whether they can. `run` is how a block of releases runs; `folder` is not there yet."""
    if not any(variant.release for variant in plan.variants):
        return Sharing()
    asked = _libraries(recording, plan, settings)
    if not asked.libraries:
        return asked
    folder.mkdir()
    job = BlockJob(
        settings=settings,
        lanes=asked.lanes(plan),
        seed=recording.seed,
        attempt=0,
        rounds=1,
        warmup_rounds=0,
        profiled_rounds=1,
        profile_warmup_rounds=0,
        profiled_variants=plan.names,
        profiles=str(folder),
        libraries=dict(asked.libraries),
    )
    try:
        run(job)
    except FuseScopeError as error:
        return Sharing(why_not=_REFUSED.of(reason=error.what))
    return asked


def _libraries(recording: Recording, plan: Plan, settings: SessionSettings) -> Sharing:
    if not all(variant.release for variant in plan.variants):
        return Sharing(why_not=_NOT_ALL)
    if recording.spin:
        return Sharing(why_not=_SPINNING)
    if settings.custom_op_library is not None:
        return Sharing(why_not=_OWN_OPERATORS)
    found = {one.name: kept.library_of(one.release) for one in plan.variants}
    libraries = {name: str(path) for name, path in found.items() if path is not None}
    return Sharing(libraries) if len(libraries) == len(found) else Sharing(why_not=_NO_LIBRARY)
