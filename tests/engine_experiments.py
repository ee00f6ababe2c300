"""An experiment of two engines, joined from recordings of one each: no test waits for engines."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path

import msgspec

from fusescope.analysis.experiment import Samples, parse_record, record_json

SAMPLES = Path(__file__).parent.parent / "sample_traces"
_BLOCKS = 3


@cache
def two_engines() -> bytes:
    """MobileNetV2 as `onnxruntime:fused`, the baseline, which ran twice, and `openvino:fused`, of
    three blocks each, with graphs and matches."""
    members: dict[str, bytes] = {}
    records = []
    for engine, file in (
        ("onnxruntime", SAMPLES / "mobilenetv2.zip"),
        ("openvino", SAMPLES / "openvino" / "mobilenetv2.zip"),
    ):
        with zipfile.ZipFile(file) as archive:
            record = parse_record(archive.read("experiment.json"))
            fused = record.variant("fused")
            members["graphs/model.json"] = archive.read("graphs/model.json")
            profiles = fused.profiles[:_BLOCKS]
            names = [one.file for one in profiles] + [fused.graph, fused.matches]
            for name in names:
                assert name is not None
                members[_of(engine, name)] = archive.read(name)
        variant = msgspec.structs.replace(
            fused,
            name=f"{engine}:fused",
            engine=None if engine == record.engine.name == "onnxruntime" else record.engine,
            samples=_first_blocks(fused.samples, copies=2 if engine == "onnxruntime" else 1),
            profiles=[msgspec.structs.replace(one, file=_of(engine, one.file)) for one in profiles],
            graph=_of(engine, fused.graph),
            matches=_of(engine, fused.matches),
            output_difference=None if engine == "onnxruntime" else fused.output_difference,
            agreement=None,
        )
        records.append(msgspec.structs.replace(record, variants=[variant]))
    first, second = records
    record = msgspec.structs.replace(
        first,
        variants=[*first.variants, *second.variants],
        settings=msgspec.structs.replace(first.settings, baseline="onnxruntime:fused"),
        own_fusions=None,
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"experiment.json": record_json(record), **members}.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _of(engine: str, member: str | None) -> str:
    assert member is not None
    return member.replace("/fused", f"/{engine}-fused")


def _first_blocks(samples: Samples, copies: int) -> Samples:
    rows = [
        (block, number, copy, wall, cpu)
        for copy in range(1, copies + 1)
        for block, number, at, wall, cpu in zip(
            samples.block, samples.round, samples.copy, samples.wall_ns, samples.cpu_ns, strict=True
        )
        if at == 1 and block < _BLOCKS
    ]
    return Samples(*(list(column) for column in zip(*rows, strict=True)))
