"""What the variant `dynamic` runs: the model with the dimensions of its inputs as it declares them,
so that the engine learns them only when it runs, as in most deployments."""

from __future__ import annotations

from pathlib import Path

import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models import shapes
from fusescope.collectors.models.model import save
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Derived, DeriveJob


def derive(job: DeriveJob, variant: Variant, model: onnx.ModelProto) -> Derived:
    """Raises FuseScopeError for a model that fixes every dimension of its inputs."""
    if job.settings.declared is None:
        raise FuseScopeError("nothing_dynamic", variant=variant.name)
    shapes.declare(model, onnx.load(job.settings.declared))
    path = Path(job.folder) / "model.onnx"
    save(model, path)
    return Derived(str(path), optimization=variant.optimization)
