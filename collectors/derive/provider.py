"""What `provider:<name>` runs: the model, by an execution provider of ONNX Runtime that is not the
CPU's own. Nodes that it does not take run on the CPU."""

from __future__ import annotations

from pathlib import Path

import msgspec
import onnx
import onnxruntime as ort

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import COMPILED_DOMAIN
from fusescope.collectors.derive import subgraphs
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.models.model import save
from fusescope.collectors.runtimes import assignment, cuda_device, kernels, providers
from fusescope.collectors.runtimes.providers import Provider
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Derived, DeriveJob


def derive(job: DeriveJob, variant: Variant, model: onnx.ModelProto) -> Derived:
    """Raises FuseScopeError where this ONNX Runtime lacks the provider, cannot load it, or it takes
    no operator of the model."""
    provider = providers.find(variant.argument)
    if provider.engine_name not in ort.get_available_providers():
        known = ", ".join(ort.get_available_providers())
        lacks = {"provider": provider.title, "version": ort.__version__, "known": known}
        if provider.package:
            raise FuseScopeError("provider_missing", package=provider.package, **lacks)
        raise FuseScopeError("provider_not_built", **lacks)
    settings = msgspec.structs.replace(job.settings, provider=provider.name)
    ran = assignment.watched(settings, variant.optimization)
    if provider.engine_name not in ran.providers:
        raise FuseScopeError("provider_not_loaded", provider=provider.title)
    if all(one.provider != provider.engine_name for one in ran.nodes):
        raise FuseScopeError("provider_takes_nothing", provider=provider.title)
    derived = Derived(job.settings.model, optimization=variant.optimization, provider=provider.name)
    told: dict[str, str | int | float | bool] = {
        "provider": provider.engine_name,
        "provider_options": _options(provider, settings.threads),
    }
    if provider.has_device:
        told["kernel_times"] = kernels.time_them()
        told["device"] = cuda_device.name()
    made = subgraphs.names(ran, provider)
    if not made:
        return msgspec.structs.replace(derived, settings=told)
    told["subgraphs"] = len(made)
    told["nodes_on_cpu"] = sum(one.provider == providers.CPU for one in ran.nodes)
    drawn = ""
    try:
        graph = subgraphs.drawn(model, ran, provider, settings, variant, Path(job.folder))
        told["operators_in_subgraphs"] = sum(
            len(function.node) for function in graph.functions if function.domain == COMPILED_DOMAIN
        )
        drawn = str(Path(job.folder) / "drawn.onnx")
        save(graph, Path(drawn))
    except subgraphs.NotKnown as error:
        told["graph_missing"] = clean(str(error))
    return msgspec.structs.replace(derived, drawn=drawn, settings=told)


def _options(provider: Provider, threads: int) -> str:
    given = providers.options(provider.name, threads)
    return ", ".join(f"{name}={value}" for name, value in given.items()) or "none"
