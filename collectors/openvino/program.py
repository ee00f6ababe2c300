"""The working copy as OpenVINO reads and compiles it, with tensors of it as further outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import openvino

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.openvino import names
from fusescope.collectors.openvino.layers import MARK
from fusescope.collectors.workers.jobs import SessionSettings

_NO_OPERATORS = re.compile(
    r"(?:not support(?:ed)? the following ONNX operations|No conversion rule found for operations|"
    r"unsupported operations)\s*:?\s*([^\n]+)",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"(?:Exception from|Check '.*?' failed at) \S+:\d+:?|\S+\.(?:cpp|hpp):\d+:?")
_OPERATOR = re.compile(r"[\w.-]+")
_OPSET = re.compile(r"-\d+$")  # what OpenVINO says behind an operator of ONNX itself

Names = tuple[str, ...]  # all that ONNX has for one tensor


@dataclass(frozen=True)
class Marked:
    """A model with outputs; `tensors` has, for the name of each Result, the names that the ONNX
    model has for what it returns. Those of `added` are not outputs of the model itself."""

    model: Any
    tensors: dict[str, Names]
    added: tuple[str, ...]


class Source:
    """The working copy, read once. `operators` are OpenVINO's in order, and what each makes of an
    input, by all names that ONNX has for a tensor. `order` has the places of all by name."""

    def __init__(self, settings: SessionSettings) -> None:
        self.core = openvino.Core()
        self._file = settings.model
        self._model = self._read()
        ordered = self._model.get_ordered_ops()
        self.order = {op.get_friendly_name(): place for place, op in enumerate(ordered)}
        self.inputs = {
            parameter.get_friendly_name(): parameter.output(0).get_any_name()
            for parameter in self._model.get_parameters()
        }
        self.operators = _operators(self._model)

    @property
    def made(self) -> tuple[Names, ...]:
        """Every tensor that depends on an input."""
        every = (names for written in self.operators.values() for names in written if names)
        return tuple(dict.fromkeys(every))

    def marked(self, wanted: Iterable[Names]) -> Marked:
        """A copy that also returns these tensors, each by all of its names."""
        model = self._model.clone()
        own = [_names(result.input(0).get_source_output()) for result in model.get_results()]
        at = {_names(output): output for output in _outputs(model)}
        added = [names for names in dict.fromkeys(wanted) if names not in own and names in at]
        model.add_outputs([at[names] for names in added])
        tensors = {}
        for number, result in enumerate(model.get_results()):
            result.set_friendly_name(f"{MARK}{number}")
            tensors[result.get_friendly_name()] = _names(result.input(0).get_source_output())
        marks = tuple(f"{MARK}{number}" for number in range(len(own), len(own) + len(added)))
        return Marked(model, tensors, marks)

    def compiled(self, model: Any, properties: Mapping[str, Any]) -> Any:
        """Raises FuseScopeError with what OpenVINO says, where it does not take the model."""
        try:
            return self.core.compile_model(model, "CPU", dict(properties))
        except RuntimeError as error:
            raise _refused(error) from error

    def _read(self) -> Any:
        try:
            return self.core.read_model(self._file)
        except RuntimeError as error:
            raise _refused(error) from error


def properties(settings: SessionSettings, variant: str, *, counted: bool) -> dict[str, Any]:
    """What a variant is compiled with; `counted`: every layer's time is taken."""
    asked = names.precision_of(variant)
    hint = names.HINTS.get(variant)
    return {
        "INFERENCE_NUM_THREADS": names.threads_of(variant) or settings.threads,
        "INFERENCE_PRECISION_HINT": asked,
        **({"PERFORMANCE_HINT": hint} if hint else {}),
        **({"PERF_COUNT": True} if counted else {}),
    }


def _operators(model: Any) -> dict[str, tuple[Names, ...]]:
    varying: set[str] = set()
    found: dict[str, tuple[Names, ...]] = {}
    for op in model.get_ordered_ops():
        kind, name = op.get_type_name(), op.get_friendly_name()
        read = (one.get_source_output().get_node().get_friendly_name() for one in op.inputs())
        if kind == "Parameter" or any(name in varying for name in read):
            varying.add(name)
            if kind not in ("Parameter", "Result"):
                found[name] = tuple(map(_names, op.outputs()))
    return found


def _outputs(model: Any) -> Iterable[Any]:
    for op in model.get_ordered_ops():
        if op.get_type_name() != "Result":
            yield from op.outputs()


def _names(output: Any) -> Names:
    return tuple(sorted(output.get_names()))


def _refused(error: RuntimeError) -> FuseScopeError:
    """What OpenVINO says, without the places in its own source; of operators that it does not
    have, their names."""
    text = str(error)
    if found := _NO_OPERATORS.search(text):
        operators = dict.fromkeys(_OPSET.sub("", one) for one in _OPERATOR.findall(found[1]))
        return FuseScopeError(
            "openvino_no_operator",
            operators=clean_text(", ".join(operators), 240),
            n=len(operators),
        )
    told = " ".join(_SOURCE.sub("", text).split())
    return FuseScopeError("openvino_refused", reason=clean_text(told, 300))
