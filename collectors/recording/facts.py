"""Facts of a model that was prepared, as the files of recordings and of releases hold them."""

from __future__ import annotations

from fusescope.analysis.experiment import ModelFacts, ModelInput
from fusescope.collectors.workers.jobs import Prepared


def model_facts(name: str, model: Prepared, *, is_built_in: bool) -> ModelFacts:
    """The model by name and hash, and its inputs as they are fed."""
    return ModelFacts(
        name=name,
        source="zoo" if is_built_in else "file",
        sha256=model.sha256,
        nodes=model.nodes,
        opset=model.opset,
        inputs=tuple(
            ModelInput(fact.name, fact.dtype, fact.shape, fact.source, fact.declared)
            for fact in model.facts
        ),
        batch=model.batch,
    )
