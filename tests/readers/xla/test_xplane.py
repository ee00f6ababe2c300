"""XLA profiles: devices, steps, HLO, and files that were damaged on the way."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.xla.hlo import from_text, read_module
from fusescope.analysis.trace import Trace

MAKE: dict[str, Any] = runpy.run_path(
    str(Path(__file__).parents[3] / "sample_traces" / "formats" / "xplane" / "make.py")
)
message: Callable[..., bytes] = MAKE["message"]
Plane: Any = MAKE["Plane"]
space: Callable[..., bytes] = MAKE["space"]


def read_bytes(data: bytes, limits: Limits | None = None) -> Trace:
    trace = read(Source("x.xplane.pb", data, limits or Limits()))
    assert isinstance(trace, Trace)
    return trace


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def gpu(*lines: tuple[str, list[bytes]], plane: Any = None) -> Any:
    plane = plane or Plane("/device:GPU:0")
    for name, events in lines:
        plane.line(name, 1_000, events)
    return plane


def test_the_sample_is_what_its_script_writes() -> None:
    path = Path(__file__).parents[3] / "sample_traces" / "formats" / "xplane" / "sample.xplane.pb"
    assert path.read_bytes() == MAKE["sample"]()


def test_steps_self_times_and_communication_of_a_tpu() -> None:
    trace = read_bytes(MAKE["sample"]())
    assert trace.meta.device == "TPU v4" and dict(trace.meta.redactable) == {"host": "example-host"}
    assert trace.runs[["kind", "start_ns", "dur_ns"]].values.tolist() == [
        ["step", 1_000, 90_000], ["step", 101_000, 90_000],
    ]  # fmt: skip
    by_name = trace.operators.set_index("name")
    calls = trace.calls.assign(name=trace.operators["name"][trace.calls["operator"]].to_numpy())
    first = calls[calls["run"] == 0].set_index("name")
    # 20,000,750 ps are 20,000.75 ns; the add inside the loop is taken off its 30 µs.
    assert first["dur_ns"].to_dict() == {
        "fusion.7": 20_001, "while.2": 25_000, "add.4": 5_000, "all-reduce.1": 7_000,
    }  # fmt: skip
    assert first["span_ns"]["while.2"] == 30_000
    assert first["start_ns"]["fusion.7"] == 2_000  # 1,000 + 1,000.25
    assert by_name["is_communication"].sum() == 1 and by_name["is_communication"]["all-reduce.1"]
    assert by_name["flops"]["fusion.7"] == 131_072 and first["bytes_accessed"]["fusion.7"] == 34_000
    assert by_name["op_type"]["fusion.7"] == "convolution fusion"
    assert by_name["launched_by"]["fusion.7"] == "jit(step)/dot_general"
    assert by_name["inputs"]["fusion.7"] == "bfloat16[8,64]; float32[128]"
    assert by_name["outputs"]["fusion.7"] == "bfloat16[8,128]"
    assert codes(trace) == {"other_events": 1, "nested_operators": 2, "outside_runs": 1}


def test_each_device_has_a_trace_of_its_own() -> None:
    """GPU 0 ran 5 µs, GPU 1 ran 8 µs, and GPU 2 nothing: figures are of one, never of both."""
    planes = []
    for number, lengths in ((1, (8_000_000,)), (0, (2_000_000, 3_000_000)), (2, ())):
        plane = Plane(f"/device:GPU:{number}")
        events = [plane.event("gemm", 9_000_000 * n, ps) for n, ps in enumerate(lengths)]
        planes.append(gpu(("Stream #7(Compute)", events), plane=plane))
    trace = read_bytes(space(planes))
    assert list(trace.units) == ["device:0", "device:1"]
    assert [one.calls["dur_ns"].tolist() for one in trace.units.values()] == [[2000, 3000], [8000]]
    assert all(codes(one)["one_of_devices"] == 2 for one in trace.units.values())


@pytest.mark.parametrize("early_ns", [0, 700])
def test_a_device_whose_clock_is_behind_the_hosts(early_ns: int) -> None:
    """Launches at 1000, 2000 and 3000 ns, kernels of 100 ns 50 ns later, told `early_ns` too early
    with their step: the last one only 650 ns before its launch, so 650 + 0 is what moves all."""
    plane, host = Plane("/device:GPU:0"), Plane("/host:CPU")
    calls = [
        host.event("cuLaunchKernel", 1_000_000 * n, 10_000, correlation_id=n) for n in (1, 2, 3)
    ]
    kernels = [
        plane.event("gemm", 1000 * (1000 * n + 50 - early_ns), 100_000, correlation_id=n)
        for n in (1, 2, 3)
    ]
    step = plane.event("1", 1000 * (900 - early_ns), 2_500_000)
    host.line("python", 0, calls)
    plane.line("Stream #7(Compute)", 0, kernels)
    plane.line("Steps", 0, [step])
    trace = read_bytes(space([plane, host]))
    moved = 0 if early_ns == 0 else early_ns - 50
    starts = [1000 * n + 50 - early_ns + moved for n in (1, 2, 3)]
    assert trace.calls["start_ns"].tolist() == starts
    assert trace.runs[["start_ns", "dur_ns"]].values.tolist() == [[900 - early_ns + moved, 2500]]
    notes = [note for note in trace.diagnostics if note.code == "kernels_before_launch"]
    told = [(note.count, dict(note.values)) for note in notes]
    assert told == ([] if early_ns == 0 else [(3, {"by_ns": 650, "moved": 1})])


def test_streams_of_a_gpu_and_not_what_is_derived_from_them() -> None:
    plane = Plane("/device:GPU:1")
    details = "grid:4,1,1 block:256,1,1 occ_pct:{}"
    kernel = plane.event(
        "gemm", 0, 5_000_000, hlo_op=("ref", "dot.3"), hlo_module=("ref", "jit_f"),
        kernel_details=details.format("62.5"), tf_op=("ref", "XlaModule:"),
        name=("ref", "jit(f)/dot_general"),
    )  # fmt: skip
    unknown = plane.event("gemm", 6_000_000, 5_000_000, kernel_details=details.format(0))
    copy = plane.event("MemcpyH2D", 0, 1_000_000)
    layer = plane.event("model/conv/Conv2D", 0, 5_000_000, tf_op="model/conv/Conv2D:Conv2D")
    gpu(("Stream #7(Compute)", [kernel, unknown, layer]), ("Stream #8(MemcpyH2D)", [copy]),
        ("XLA Ops", [kernel]), ("TensorFlow Ops", [kernel]), plane=plane)  # fmt: skip
    trace = read_bytes(space([plane]))
    assert trace.calls["stream"].value_counts().to_dict() == {
        "Stream #7(Compute)": 3, "Stream #8(MemcpyH2D)": 1,
    }  # fmt: skip
    assert trace.calls["device"].unique().tolist() == ["GPU:1"]
    assert sorted(trace.calls["occupancy"].dropna()) == [0.625]  # 0 % is what is not known
    rows = trace.operators.astype("object").where(trace.operators.notna(), None)
    assert {tuple(row) for row in rows[["op_type", "launched_by"]].values.tolist()} == {
        ("dot", "jit(f)/dot_general"), ("Memcpy HtoD", None), (None, None),
        ("Conv2D", "model/conv/Conv2D"),
    }  # fmt: skip
    assert codes(trace) == {"other_events": 2, "overlapping_calls": 1, "no_runs": 1}


def test_totals_of_many_executions() -> None:
    plane = Plane("/device:TPU:0")
    plane.event("%a.1 = f32[] add(f32[] %b)", 0, 0, "a.1")
    counted = message((1, 1), (3, 9_000_000), (5, 3))
    plane.line("XLA Ops", 0, [counted])
    trace = read_bytes(space([plane]))
    assert trace.calls[["n", "dur_ns"]].values.tolist() == [[3, 9_000]]
    assert trace.calls["start_ns"].isna().all()


def test_without_a_device_the_operators_of_the_host() -> None:
    host = Plane("/host:CPU")
    mine = host.event("dot.3", 0, 4_000_000, hlo_op=("ref", "dot.3"))
    other = host.event("ThreadpoolListener", 0, 9_000_000)
    host.line("tf_XLAEigen/1", 10, [mine, other])
    trace = read_bytes(space([host]))
    assert trace.calls["dur_ns"].tolist() == [4_000]
    assert trace.operators["provider"].tolist() == ["CPU"]


def shape(dtype: int, *sizes: int) -> bytes:
    return message((2, dtype), *((3, size) for size in sizes))


def instruction(name: str, opcode: str, made: bytes, number: int, **lists: bytes) -> bytes:
    places = {"operands": 36, "called": 38}
    return message(
        (1, name), (2, opcode), (3, made), (35, number),
        *((places[key], value) for key, value in lists.items()),
    )  # fmt: skip


def module() -> bytes:
    array = shape(11, 8, 4)
    workspace = message((2, 13), (4, array), (4, shape(2, 4096)))
    inner = message(
        (1, "fused"),
        (2, instruction("p", "parameter", array, 1)),
        (2, instruction("m", "multiply", array, 2)),
        (2, instruction("a", "add", array, 3)),
        (2, instruction("m2", "multiply", array, 4)),
        (5, 71),
    )
    entry = message(
        (1, "main"),
        (2, instruction("arg", "parameter", array, 1)),
        (2, instruction("loop_fusion.1", "fusion", array, 2, operands=b"\x01", called=b"\x47")),
        (2, instruction("custom-call.1", "custom-call", workspace, 3, operands=b"\x01\x02")),
        (5, 72),
    )
    return message((1, message((1, "jit_f"), (3, inner), (3, entry))))


def test_members_and_shapes_of_a_fusion_from_its_program() -> None:
    found = read_module(memoryview(module()))
    fusion = found["loop_fusion.1"]
    assert fusion.members is not None and fusion.members.members == ("multiply", "add")
    assert (fusion.inputs, fusion.outputs) == ("float32[8,4]", "float32[8,4]")
    # A library's scratch memory is not a result.
    assert found["custom-call.1"].outputs == "float32[8,4]"
    metadata = Plane("/host:metadata")
    metadata.event("jit_f(19)", 0, 0, **{"of_Hlo Proto": module()})
    device = Plane("/device:GPU:0")
    device.line("Stream #1", 0, [
        device.event("loop_fusion", 0, 1_000, hlo_op="loop_fusion.1", program_id=19),
        device.event("loop_fusion_2", 2_000, 1_000, hlo_op="loop_fusion.1", program_id=20),
    ])  # fmt: skip
    trace = read_bytes(space([metadata, device]))
    rows = trace.operators.set_index("name")
    assert rows["members"]["loop_fusion"] == "multiply + add"
    assert rows["members_source"]["loop_fusion"] == "op_types"
    assert rows["op_class"]["loop_fusion"] == "elementwise"
    assert rows["bytes_in"]["loop_fusion"] == 8 * 4 * 4
    assert rows["members"].isna()["loop_fusion_2"]  # another program


def test_a_fusion_inside_a_fusion_and_the_name_that_the_framework_gave() -> None:
    array = shape(11, 8, 4)
    inner = message((1, "inner"), (2, instruction("e", "exponential", array, 1)), (5, 71))
    outer = message(
        (1, "outer"),
        (2, instruction("a", "add", array, 1)),
        (2, instruction("fusion.0", "fusion", array, 2, called=b"\x47")),
        (5, 72),
    )
    named = message((1, "add"), (2, "jit(f)/exp"))
    entry = message(
        (1, "main"),
        (2, instruction("fusion.1", "fusion", array, 1, called=b"\x48") + message((7, named))),
        (5, 73),
    )
    program = message((1, "jit_f"), (3, inner), (3, outer), (3, entry))
    found = read_module(memoryview(message((3, b"\x08\x01"), (1, program))))
    fusion = found["fusion.1"]
    assert fusion.members is not None and fusion.members.members == ("add", "exponential")
    assert fusion.op_name == "jit(f)/exp"


def test_a_device_without_a_type_is_named_by_vendor_and_capability() -> None:
    plane = Plane("/device:GPU:0")
    plane.own = [plane.stat("device_vendor", "AMD"), plane.stat("compute_cap_major", 9),
                 plane.stat("compute_cap_minor", 4)]  # fmt: skip
    kernel = plane.event("k", 0, 1_000, hlo_op="dot.1", unheard_of="x")
    trace = read_bytes(space([gpu(("Stream #1", [kernel]), plane=plane)]))
    assert trace.meta.device == "AMD GPU, compute capability 9.4"


def test_a_damaged_program_costs_only_its_shapes() -> None:
    metadata = Plane("/host:metadata")
    metadata.event("jit_f(19)", 0, 0, **{"of_Hlo Proto": module()[:40]})
    device = Plane("/device:GPU:0")
    device.line("Stream #1", 0, [device.event("k", 0, 1_000, hlo_op="dot.1", program_id=19)])
    trace = read_bytes(space([metadata, device]))
    assert trace.operators["inputs"].isna().all() and len(trace.calls) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "%copy.1 = (f32[2,3]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(f32[2,3]{1,0} %p.2)",
            ("copy.1", "copy-start", "float32[2,3]", "float32[2,3]; uint32[]"),
        ),
        ("ROOT %x = pred[] compare(s32[] %a, s32[] %b), direction=LT", None),
        ("%x = pred[] compare(s32[] %a, s32[] %b)", ("x", "compare", "int32[]; int32[]", "bool[]")),
        ("a plain name", None),
    ],
)
def test_hlo_as_text(line: str, expected: tuple[str, ...] | None) -> None:
    found = from_text(line)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        name, told = found
        assert (name, told.opcode, told.inputs, told.outputs) == expected


def test_a_copy_in_text_mode_is_named_as_that() -> None:
    mangled = re.sub(rb"[\x80-\xff]", b"\xef\xbf\xbd", MAKE["sample"]())
    with pytest.raises(FuseScopeError, match="copied as text"):
        read_bytes(mangled)


def test_a_file_cut_short_keeps_its_whole_planes() -> None:
    data = MAKE["sample"]()
    trace = read_bytes(data[: len(data) - 20])
    assert len(trace.calls) == 9 and codes(trace)["cut_short"] == 1
    with pytest.raises(FuseScopeError, match="damaged"):
        read_bytes(data[:100])


def test_more_events_than_the_limit_are_refused() -> None:
    with pytest.raises(FuseScopeError, match="more events than the limit of 5"):
        read_bytes(MAKE["sample"](), Limits(events=5))


def independent_events(data: bytes) -> list[tuple[int, int, int]]:
    """(line start ns, offset ps, duration ps) of every event on a stream of a GPU plane."""

    def parts(message: bytes) -> list[tuple[int, Any]]:
        found, at = [], 0

        def number() -> int:
            nonlocal at
            value = shift = 0
            while True:
                byte = message[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(message):
            key = number()
            if key & 7 == 0:
                found.append((key >> 3, number()))
            elif key & 7 == 2:
                size = number()
                found.append((key >> 3, message[at : at + size]))
                at += size
            else:
                size = 8 if key & 7 == 1 else 4
                at += size
        return found

    events = []
    for plane in (value for field, value in parts(data) if field == 1):
        inside = parts(plane)
        name = next((value for field, value in inside if field == 2), b"")
        for line in (value for field, value in inside if field == 3):
            fields = parts(line)
            label = next((value for field, value in fields if field == 2), b"")
            start = next((value for field, value in fields if field == 3), 0)
            if name.startswith(b"/device:GPU") and label.startswith(b"Stream #"):
                for event in (value for field, value in fields if field == 4):
                    found = dict(parts(event))
                    events.append((start, found.get(2, 0), found.get(3, 0)))
    return events


def test_a_real_profile_of_jax(shared_traces: Path) -> None:
    data = (shared_traces / "third_party" / "xplane" / "jax08_attention.xplane.pb").read_bytes()
    trace = read_bytes(data)
    truth = independent_events(data)
    assert len(truth) == len(trace.calls) == 105
    assert sorted(trace.calls["dur_ns"]) == sorted(dur // 1000 for _, _, dur in truth)
    assert all(dur % 1000 == 0 for _, _, dur in truth)
    assert sorted(trace.calls["start_ns"]) == sorted(a + b // 1000 for a, b, _ in truth)
    assert trace.meta.device == "AMD GPU, compute capability 9.4"
    assert dict(trace.meta.redactable) == {"host": "tw003"}
    place = "generate_attention_trace.py:25:14"
    assert (
        f"jit(_reduce_sum)/convert_element_type {place} + jit(_reduce_sum)/reduce_sum {place}"
    ) in trace.texts("members")
    assert (trace.operators["members_source"].dropna() == "parts").all()
    classes = trace.operators["op_class"].value_counts()
    assert classes["matrix_product"] == 5 and "unknown" not in classes
    mangled = re.sub(rb"[\x80-\xff]", b"\xef\xbf\xbd", data)
    with pytest.raises(FuseScopeError, match="copied as text"):
        read_bytes(mangled)


@pytest.mark.parametrize(
    ("name", "op_type"),
    [
        ("CopyDeviceToDevice", "Memcpy DtoD"), ("MemcpyD2H", "Memcpy DtoH"), ("Memset", "Memset"),
        ("CopyPeerToPeer", "Memcpy PtoP"), ("copy_fusion", None),
    ],
)  # fmt: skip
def test_copies_of_a_device_by_any_spelling_move_data(name: str, op_type: str | None) -> None:
    plane = Plane("/device:GPU:0")
    events = [plane.event(name, 0, 1_000_000), plane.event("gemm", 2_000_000, 1_000_000)]
    gpu(("Stream #7(Compute)", events), plane=plane)
    trace = read_bytes(space([plane]))
    found = trace.operators.astype("object").where(trace.operators.notna(), None)
    row = found[found["name"] == name].iloc[0]
    assert row["op_type"] == op_type
    if op_type is not None:
        assert row["op_class"] == "copy"
        assert copies_of(trace).sum() == 1
