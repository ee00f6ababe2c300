"""One variant of a model for MindSpore, ready to run."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import mindspore
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.mindspore import models
from fusescope.collectors.mindspore.names import flags_of
from fusescope.collectors.models.array import Array
from fusescope.collectors.workers.jobs import SessionSettings

# What MindSpore says of an operator that it has no kernel for.
_NO_OPERATOR = re.compile(r"Unsupported op \[(\w+)\] on|The kernel (\w+) unregistered")


def prepare_process(settings: SessionSettings) -> None:
    """Threads and device, for everything in this process."""
    mindspore.set_device("CPU")
    mindspore.set_context(runtime_num_threads=settings.threads)


class MindSporeSession:
    """`compile_ns` is the time of the first run, with compilation where the variant has one;
    `settings` are what was set, for people who want to repeat it. `vary_weights` is for looking at
    values; intermediate programs go to `programs`.

    What a variant is, MindSpore keeps for the whole process: `turn` sets it before each run. A
    model that was compiled under the same settings is not compiled again.
    """

    def __init__(
        self,
        settings: SessionSettings,
        variant: str,
        *,
        vary_weights: bool = False,
        programs: Path | None = None,
    ) -> None:
        self.loaded = models.load(settings.model, settings.drawing.seed)
        if vary_weights:
            self.loaded.vary_weights()
        self._flags = flags_of(variant)
        self._eager = variant == "eager"
        self._result: Any = None
        self.settings: dict[str, str | int | float | bool] = {
            "execution": "PYNATIVE_MODE" if self._eager else "GRAPH_MODE",
            "enable_graph_kernel": self._flags is not None,
            **({"graph_kernel_flags": self._flags} if self._flags else {}),
            "runtime_num_threads": settings.threads,
            "provider": "CPU",
        }
        if programs is not None:
            mindspore.set_context(save_graphs=2, save_graphs_path=str(programs))
        self.turn()
        started = time.perf_counter_ns()
        try:
            self.run()
        except Exception as error:  # whatever the model or the compiler raises
            raise refused(error) from error
        self.compile_ns = time.perf_counter_ns() - started
        if programs is not None:
            mindspore.set_context(save_graphs=0)

    @property
    def generates(self) -> bool:
        """Whether AKG generates kernels for the variant."""
        return self._flags is not None

    def turn(self) -> None:
        """Has the process run this variant from here on; no part of a run."""
        if self._eager:
            mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
            return
        mindspore.set_context(
            mode=mindspore.GRAPH_MODE,
            enable_graph_kernel=self._flags is not None,
            graph_kernel_flags=self._flags or "",
        )

    def run(self) -> None:
        """One run of the whole model, until its results are there."""
        self._result = [_numbers(one) for one in _leaves(self.loaded.cell(*self.loaded.inputs))]

    def outputs(self) -> list[Array | None]:
        """What the latest run returned; half-precision as float32."""
        found = [np.asarray(one) for one in self._result]
        return [one.astype("f4") if one.dtype.kind == "V" else one for one in found]


def refused(error: Exception) -> FuseScopeError:
    """What MindSpore says of a model that it does not run, as one sentence."""
    text = str(error).strip()
    if found := _NO_OPERATOR.search(text):
        name = next(filter(None, found.groups()))
        return FuseScopeError("mindspore_no_operator", operators=clean_text(name, 80))
    told = (line for line in text.splitlines() if line.strip() and not line.startswith("-"))
    first = next(told, "")
    reason = clean_text(f"{type(error).__name__}: {first}", 240)
    return FuseScopeError("mindspore_refused", reason=reason)


def _leaves(made: Any) -> list[Any]:
    if isinstance(made, tuple | list):
        return [leaf for one in made for leaf in _leaves(one)]
    return [made]


def _numbers(made: Any) -> Any:
    return made.asnumpy() if hasattr(made, "asnumpy") else made
