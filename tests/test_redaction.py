"""No name of a user or host and no absolute path is left in what is exported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice import Subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.job import Collectives, Group, Job, collectives_frame
from fusescope.analysis.originals import Original
from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.redaction import redacted, redacted_sides
from fusescope.analysis.report.exports.comparison_json import comparison_json
from fusescope.analysis.report.exports.inspection import inspection_json
from fusescope.analysis.report.exports.perfetto import several_perfetto_json
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.multiple.html import multiple_html
from fusescope.analysis.report.one_trace.html import trace_html
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import CALL_COLUMNS, Diagnostic, Meta, Trace
from fusescope.app.cli.compare import compare as compare_files
from fusescope.app.cli.inspect import inspect
from tests.factories import CONV, experiment_zip, profile_json
from tests.miniatures import FOLDER
from tests.report.enclosed import data_of, files_of


def trace(names: list[str], meta: Meta | None = None, **columns: object) -> Trace:
    meta = meta or Meta("chrome_trace", "t", file_name="a.json")
    rows = {"name": names, "dur_ns": [1000 * (n + 1) for n in range(len(names))], **columns}
    return build_trace(meta, rows)


A_SIDE = side_of_trace(trace(["Conv"]))


def names_of(value: Trace) -> list[str]:
    return [str(name) for name in value.operators["name"]]


def redacted_names(*names: str, meta: Meta | None = None) -> list[str]:
    value = redacted(trace(list(names), meta))
    assert isinstance(value, Trace)
    return names_of(value)


def test_a_trace_that_names_nobody_is_the_same_trace() -> None:
    plain = trace(["conv1", "relu1"])
    named = trace(["conv1", "relu1"], Meta("chrome_trace", "t", file_name="/home/eve/a.json"))
    assert redacted(plain) is plain
    made = redacted(named)
    assert made is not named and isinstance(made, Trace)
    assert made.operators is named.operators and made.meta.file_name == "<path>/a.json"


def test_names_among_very_many_are_found_as_one_by_one() -> None:
    many = [f"layer{number}" for number in range(2500)]
    many[1200] = "gpu-box_77_1712345678901_ascend_pt"
    many[1201], many[2400] = "/home/eve/net.py", "sum of eve on GPU-BOX"
    told = redacted_names(*many)
    assert set(told) - set(many) == {
        "<host1>_77_1712345678901_ascend_pt",
        "<path>/net.py",
        "sum of <user1> on <host1>",
    }
    assert len(set(told)) == 2500


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/secret/model.py(12): forward", "<path>/model.py(12): forward"),
        ("/home/alice", "<path>"),
        ("/Users/zed/x", "<path>"),
        (r"C:\Users\Jane Doe\secret\a.dll", "<path>/a.dll"),
        (r"C:\\Users\\jane\\secret", "<path>"),
        (r"\\filer01\share\x.bin", "<path>/x.bin"),
        ("file:///home/bob/x y/z.json", "<path>/z.json"),
        ("file://filer01/share/z.json", "<path>/z.json"),
        ("https://host7.example.org:8080/a/b", "https://<host1>:8080/<path>"),
        ("see https://host7.example.org/a, then", "see https://<host1>/<path>, then"),
        ("https://hub.example.org/a?token=t0p&b=/a/b.c", "https://<host1>/<path>?<private1>"),
        ("https://hub.example.org?token=t0p", "https://<host1>?<private1>"),
        ("(https://hub.example.org/a;v=t0p)", "(https://<host1>/<path>)"),
        ("https://alice:12ab@hub.example.org/a", "https://<user1>@<host1>/<path>"),
        ("https://alice:t0/p@hub.example.org", "https://<host1>/<path>"),
        ("alice@gpu-17.example.com", "<user1>@<host1>"),
        ("~carol/work/x", "<path>"),
        ("void f<float>(/opt/secret/k.cu)", "void f<float>(<path>/k.cu)"),
        ("rules:/home/alice/r.json", "rules:<path>/r.json"),
        ("/proj/team/x.py(3): f", "<path>/x.py(3): f"),
        ("alice@10.1.2.3", "<user1>@<host1>"),
        (r"\\?\UNC\filer01\share\x.bin", "<path>/x.bin"),
        ("//filer01/share/x/y", "<path>"),
        ("git@git.corp.example:team/secret.git", "git@<host1>:<path>/secret.git"),
        ("alice@gpu7:/work/alice/x", "<user1>@<host1>:<path>"),
        ("../../home/alice/x.py", "<path>/x.py"),
        ("f<../../home/alice/k.cu>", "f<<path>/k.cu>"),
        ("</home/alice/k.cu>", "<<path>/k.cu>"),
        ("vector<float>/home/alice/x", "vector<float><path>"),
        ("-I/home/alice/inc", "-I<path>"),
        ("/lustre1/alice/x", "<path>"),
        ("/cluster/home/alice/x.py", "<path>/x.py"),
        ("/p/users/alice/work/k.cu", "<path>/k.cu"),
        ("/home/doe,jane/a,b/c.py", "<path>/c.py"),
        ("[/home/a/x.py,/home/b/y.py]", "[<path>/x.py,<path2>/y.py]"),
        ("%2Fhome%2Falice%2Fx", "<path>"),
        ("C%3A%5CUsers%5Calice%5Cx", "<path>"),
        ("10.2.3.4:29500", "<host1>:29500"),
        ("gpu-node17:29500", "<host1>:29500"),
        ("node7.corp.example:29500", "<host1>:29500"),
        ("[fe80::1]:8080", "[<host1>]:8080"),
    ],
)
def test_what_is_replaced(text: str, expected: str) -> None:
    assert redacted_names(text) == [expected]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("net.py:9: s = q@k.transpose(-2, -1)", "net.py:9: s = q @ k.transpose(-2, -1)"),
        (
            "net.py:9: x = softmax(attn@value, -1) @ w",
            "net.py:9: x = softmax(attn @ value, -1) @ w",
        ),
        ("net.py:9: return self.w1@self.w2", "net.py:9: return self.w1 @ self.w2"),
        ("net.py:9: q@k.transpose(-2, -1),", "net.py:9: q @ k.transpose(-2, -1),"),
        ("net.py:9: x = f(y)  # ask alice@corp.com", "net.py:9: x = f(y)  # ask <user1>@<host1>"),
        ("net.py:9: g('alice@corp.com', q@k)", "net.py:9: g('<user1>@<host1>', q @ k)"),
        ("net.py:9: by alice@corp.com today", "net.py:9: by <user1>@<host1> today"),
        ("net.py:9: alice@corp.com", "net.py:9: <user1>@<host1>"),
        ("alice@corp.com", "<user1>@<host1>"),
        ("/home/alice/net.py:9: y = x@w", "<path>/net.py:9: y = x @ w"),
    ],
)
def test_a_product_in_a_line_of_code_is_no_address(place: str, expected: str) -> None:
    value = replace(trace(["attention of value"]), originals=(Original("n", "matmul", place),))
    changed = redacted(value)
    assert isinstance(changed, Trace)
    assert changed.originals[0].place == expected
    assert names_of(changed) == ["attention of value"]  # no word of the code is a name


@pytest.mark.parametrize(
    "text",
    [
        "/layer1/layer1.0/conv1/Conv",
        "Conv_12",
        "aten::conv2d",
        "memcpy@GLIBC_2.14",
        "void cutlass::Kernel<float, 3>(int)",
        "ncclDevKernel_AllReduce_Sum_f32",
        "a/b/c",
        "1/2",
        "E5-2690@2.90GHz",
        "Dequeue@aclnnAddmm",
        "AscendCL@aclrtMalloc",
        "Node@launch",
        "void at::copy<float>::{lambda()#2}::operator()() const::{lambda(float)#1},~0af96cdd…",
        "std::vector<float>::~vector()",
        "sm80_xmma_gemm_f16f16",
        "model/conv1/Conv2D + model/relu/Relu",
        "model.py:1234",
        "ops.cc:1200: f",
        "stream:12",
        "conv-1:0",
        "fused-conv-3:128",
        "127.0.0.1:8501",
        "a-b/var/x",
        "//conv",
        "x//y/z",
        "%2Fa",
        "libcudart.so.12:1234",
        "",
    ],
)
def test_names_of_operators_stay(text: str) -> None:
    assert redacted_names(text or "x") == [text or "x"]


def test_what_the_host_does_in_a_layer_of_ascend_hides_no_kernel() -> None:
    """The operator behind the @ is part of the names of its kernels."""
    texts = ["Dequeue@aclnnAddmm", "aclnnAddmm_MatMulCommon_MatMulV2", "Hccl@Launch", "launch"]
    assert redacted_names(*texts) == texts
    hidden = ["Model@box.corp.example", "Node@gpu-7"]
    assert not any("corp" in text or "gpu" in text for text in redacted_names(*hidden))


def test_a_name_learnt_in_one_place_goes_everywhere_as_a_whole_word() -> None:
    texts = ["/home/alice/x", "run_alice_2", "Alice kernel", "malice", "alice2"]
    _, *rest = redacted_names(*texts)
    assert rest == ["run_<user1>_2", "<user1> kernel", "malice", "alice2"]


def test_words_that_name_nobody_stay() -> None:
    assert redacted_names("/home/user/x", "user_kernel", "/root/x.py") == [
        "<path>",
        "user_kernel",
        "<path2>/x.py",
    ]


def test_different_texts_stay_different_and_equal_ones_equal() -> None:
    """Operators of two files join as before, and no two of one file become one."""
    one = trace(["/home/alice/a/k.py(1)", "/home/alice/b/k.py(1)", "Conv"])
    two = trace(["Conv", "/home/alice/b/k.py(1)", "/home/eve/a/k.py(1)"])
    sides = redacted_sides(side_of_trace(one), side_of_trace(two))
    first, second = (names_of(side.trace) for side in sides)
    assert len(set(first)) == 3
    assert len(set(first) & set(second)) == 2
    assert first[1] == second[1]


def test_marked_fields_name_hosts_users_and_others() -> None:
    meta = Meta(
        "x",
        "t",
        file_name="gpu7.corp_12345.1699999999999.pt.trace.json",
        files=("gpu9_77_20250101101112000_ascend_pt/l2_cache.csv",),
        redactable={
            "host_name": "hosty",
            "user": "ulla",
            "cwd": "/proj/top secret",
            "team": "blue",
        },
    )
    value = redacted(trace(["hosty", "Ulla", "blue", "gpu9"], meta))
    assert isinstance(value, Trace)
    assert names_of(value) == ["<host1>", "<user1>", "<private1>", "<host3>"]
    assert value.meta.file_name == "<host2>_12345.1699999999999.pt.trace.json"
    assert value.meta.files == ("<host3>_77_20250101101112000_ascend_pt/l2_cache.csv",)
    assert set(value.meta.redactable.values()) == {"<host1>", "<user1>", "<path>", "<private1>"}


@pytest.mark.parametrize("name", ["eager.json.gz", "Eager.JSON", "run 2/eager.json"])
def test_a_name_that_the_user_chose_stays_whatever_the_file_says_of_itself(name: str) -> None:
    """PyTorch writes the name of the file into it: no user, host or path, so nothing to hide. The
    pair of eager.json.gz and compiled.json.gz was "<private1>.gz" in its own report."""
    meta = Meta("kineto", "t", file_name=name, redactable={"trace_name": "eager.json"})
    [side, other] = redacted_sides(side_of_trace(trace(["eager.json"], meta)), A_SIDE)
    assert side.trace.meta.file_name == side.label == name
    assert names_of(side.trace) == ["eager.json"]
    assert other.label == "a.json"


@pytest.mark.parametrize(
    ("redactable", "expected"),
    [
        ({"trace_name": "apollo.json"}, "run.json"),  # not what the user called the file
        ({"host_name": "run"}, "<host1>.json"),
        ({"user": "run"}, "<user1>.json"),
    ],
)
def test_users_and_hosts_are_hidden_in_names_of_files_too(
    redactable: dict[str, str], expected: str
) -> None:
    meta = Meta("kineto", "t", file_name="run.json", redactable=redactable)
    value = redacted(trace(["apollo.json"], meta))
    assert isinstance(value, Trace) and value.meta.file_name == expected
    assert names_of(value) == (["<private1>"] if "trace_name" in redactable else ["apollo.json"])


def exports(comparison: Comparison) -> str:
    html = report_html(comparison, include_environment=True)
    held = b" ".join(files_of(data_of(html)).values()).decode(errors="replace")
    alone = "".join(trace_html(Subject(s)) for s in (comparison.baseline, comparison.candidate))
    return html + alone + held + comparison_json(comparison).decode()


SECRETS = ("alice", "gpu-node17", "topsecret", "bob", "filer01", "corp.example", "secretive")


def planted() -> tuple[Trace, Trace]:
    meta = Meta(
        "chrome_trace",
        "t",
        device="GPU of gpu-node17",
        file_name="gpu-node17_12345.1699999999999.pt.trace.json",
        files=("topsecret@gpu-node17/x.json",),
        redactable={"host": "gpu-node17.corp.example", "cwd": "/srv/topsecret", "user": "bob"},
    )
    names = [
        "/home/alice/topsecret/model.py(3): forward",
        "kernel of alice",
        r"\\filer01\topsecret\k.cu",
        "Conv",
    ]
    first = trace(
        names,
        meta,
        launched_by=["C:/Users/bob/x.py", "bob", None, None],
        stream=["gpu-node17:0", None, "7", "7"],
        op_type=["/home/alice/op", "Conv", "Relu", "Conv"],
        provider=["bob@gpu-node17", None, None, None],
    )
    error = FuseScopeError("experiment_file_damaged", reason="no /srv/secretive/file")
    notes = (
        Diagnostic("warning", "bad_time", 1, "row 3: /home/alice/topsecret/x"),
        Diagnostic("info", "part_unreadable", 1, "bob", {"file": "bob", "reason": error.said}),
        Diagnostic("info", "part_missing", 1, "", {"file": "no /srv/topsecret/file"}),
    )
    return replace(first, diagnostics=notes), trace(["Conv", "/home/alice/y"], meta)


def test_nothing_planted_in_traces_is_left_in_any_export() -> None:
    first, second = planted()
    sides = side_of_trace(first), side_of_trace(second)
    before = exports(compare(*sides))
    assert all(secret in before for secret in SECRETS), "the plants would not be found"
    after = exports(compare(*redacted_sides(*sides))).lower()
    unasked = data_of(report_html(compare(*sides)))
    after += b" ".join(files_of(unasked).values()).decode(errors="replace").lower()
    assert [secret for secret in SECRETS if secret in after] == []
    inspected = inspection_json(redacted(first)).decode().lower()
    assert [secret for secret in SECRETS if secret in inspected] == []


def test_types_shapes_and_layouts_are_kept_and_whatever_else_stands_there_is_hidden() -> None:
    """The columns of types, shapes and layouts hold what a file writes there."""
    known = [
        "float16[8,64,56,56]:NCHW; float16[64,64,3,3]:FRACTAL_Z; int64[]",
        "float32[32,12,13,13,16]:NC1HWC0:1", "?[1,-1]", "float32[1,3,32,32]:acdb", "f8e4m3fn[2]",
        "format_nd[DT_BF16]:655360", "int8[1,3,32,32]:chw4", "uint8[]:aBcd16b",
    ]  # fmt: skip
    planted = [
        "/home/alice/topsecret[1]:NCHW", "float16[alice]:secretive@gpu-node17", "topsecret",
        "float16[1,2]:/srv/topsecret/alice", "float32[2]; filer01[3]", "int8[1/2;alice]:beda",
    ]  # fmt: skip
    texts = [*known, *planted]
    names = [f"k{number}" for number in range(len(texts))]
    value = trace(names, inputs=texts, outputs=texts[::-1])
    changed = redacted(value)
    assert isinstance(changed, Trace)
    for column, order in (("inputs", 1), ("outputs", -1)):
        shown = [str(text) for text in changed.operators[column]][::order]
        assert shown[: len(known)] == known
        assert not any(secret in " ".join(shown) for secret in (*SECRETS, "beda"))
        assert shown[-4] == "<private1>" or shown[-4].startswith("<private")
        assert shown[-2].startswith("float32[2]; <private") and shown[-2].endswith("[3]")
    sides = side_of_trace(value), side_of_trace(trace(names, inputs=texts))
    assert "topsecret" in exports(compare(*sides))
    after = exports(compare(*redacted_sides(*sides))).lower()
    assert [secret for secret in SECRETS if secret in after and secret != "bob"] == []


def hidden_experiment() -> Experiment:
    operators = {
        "unfused": [("/home/alice/topsecret/Conv", *CONV[1:]), ("alice/Relu", "Relu", *CONV[2:])],
        "rules:/home/alice/topsecret/r.json": [("/home/alice/topsecret/Conv", *CONV[1:])],
    }
    times = {name: [10.0] * 8 for name in operators}
    value = read(Source("e.zip", experiment_zip(times, operators)))
    assert isinstance(value, Experiment)
    settings = replace_struct(
        value.record.settings,
        command="fusescope collect '/srv/topsecret/alice model.onnx' --out=/tmp/topsecret/x.zip",
    )
    model = replace_struct(
        value.record.model, name="/srv/topsecret/alice model.onnx", source="file"
    )
    return replace(value, record=replace_struct(value.record, settings=settings, model=model))


def replace_struct(value: Any, **changes: Any) -> Any:
    return msgspec.structs.replace(value, **changes)


def test_nothing_planted_in_an_experiment_is_left() -> None:
    value = hidden_experiment()
    first, second = value.traces
    sides = side_of_variant(value, first), side_of_variant(value, second)
    before = exports(compare(*sides))
    assert "alice" in before and "topsecret" in before
    hidden = redacted_sides(*sides)
    comparison = compare(*hidden)
    after = exports(comparison).lower()
    assert "alice" not in after
    assert "topsecret" not in after
    assert hidden[0].experiment is hidden[1].experiment, "still one recording, still paired"
    assert comparison.verdict.pairing == "blocks"
    assert comparison.fusion.source == compare(*sides).fusion.source
    assert isinstance(redacted(value), Experiment)


word = st.from_regex(r"[a-z][a-z0-9]{3,11}", fullmatch=True).filter(
    lambda text: text not in ("user", "root", "test", "data", "model", "home", "host", "node")
)


@given(
    user=word, host=word, folder=word, sep=st.sampled_from(["/", "\\"]), tail=st.text(max_size=9)
)
def test_secrets_are_gone_whatever_stands_around_them(
    user: str, host: str, folder: str, sep: str, tail: str
) -> None:
    user, host, folder = f"qu{user}", f"qh{host}", f"qf{folder}"
    home = f"/home/{user}/{folder}" if sep == "/" else f"C:\\Users\\{user}\\{folder}"
    texts = [
        f"{home}{sep}f.py(1): g{tail}",
        f"f {home}",
        f"{user}@{host}",
        f"x_{user}_{tail}",
        f"{host.upper()}: k",
        f"file://{host}/{folder}/y",
        f"\\\\{host}\\{folder}\\y",
    ]
    shown = " ".join(redacted_names(*texts)).lower()
    assert user not in shown
    assert host not in shown
    assert folder not in shown


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=6))
def test_any_text_gives_a_trace_with_as_many_different_names(texts: list[str]) -> None:
    value = trace(texts)
    out = redacted(value)
    assert isinstance(out, Trace)
    assert len(out.calls) == len(value.calls)


def test_a_long_name_takes_no_long_time() -> None:
    """512 characters of what the patterns like best: no run of backtracking."""
    names = ["/home/" + "a/" * 250, "a@" * 256, "\\\\" * 256, "~" * 512, "C:\\" * 170, "://" * 170]
    assert len(redacted_names(*names)) == len(names)


def test_the_command_line_leaves_them_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conv = ("/home/alice/topsecret/a/Conv", *CONV[1:])
    before, after = (tmp_path / "topsecret" / f"{name}.json" for name in ("alice_old", "alice_new"))
    before.parent.mkdir()
    for path in (before, after):
        path.write_bytes(profile_json([conv], runs=2))
    for as_json in (False, True):
        inspect(before, json=as_json, redact=True)
        compare_files(before, after, json=as_json, html=tmp_path / "r.html", redact=True)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    held = b" ".join(files_of(data_of(page)).values()).decode(errors="replace")
    shown = capsys.readouterr().out + page + held
    assert "alice" not in shown
    assert "topsecret" not in shown
    assert "<user1>_old.json" in shown
    assert "&lt;path&gt;" in shown


def test_the_activity_of_the_host_names_no_folder_of_a_person() -> None:
    """Of two users' folders one name each remains, and what is the same file is one name."""
    names = ("/home/jane/a/train.py(3): main", "/home/jane/train.py(3): main", "aten::mm")
    one = np.array([0])
    host = HostActivity(
        names, ("thread 1",), np.array([0, 0, 0]), np.array([1, 2, 3]), np.array([9, 8, 7]),
        np.array([0, 1, 2]), np.array([1, 1, 0]), one, one, one,
    )  # fmt: skip
    value = redacted(replace(trace(["a"]), host=host))
    assert isinstance(value, Trace) and value.host is not None
    told = [value.host.names[place] for place in value.host.name_of]
    assert "jane" not in " ".join(told) and told[2] == "aten::mm"
    assert all(name.endswith("train.py(3): main") for name in told[:2])
    assert len(set(value.host.names)) == len(value.host.names)
    untold = replace(host, name_of=np.array([2, 2, 2]), names=("a", "b", "aten::mm"))
    given = replace(trace(["a"]), host=untold)
    assert redacted(given) is given


def test_call_stacks_name_no_folder_of_a_person() -> None:
    code = Stacks(
        ("/home/jane/net/train.py(3): main",), np.array([-1]), np.array([0]), np.array([0])
    )
    value = redacted(replace(trace(["a"]), stacks=code))
    assert isinstance(value, Trace)
    assert value.stacks is not None
    assert "jane" not in value.stacks.names[0]
    assert value.stacks.names[0].endswith("train.py(3): main")


def test_paths_leave_the_names_of_counters_and_persons_do_not() -> None:
    """Figures go by these names: a user called mac must not cost the cube's ratio."""
    meta = Meta("msprof_op", "t", redactable={"user": "mac", "host": "read"})
    columns = {"aic_mac_ratio": [0.5], "/home/alice/x.so calls": [1.0], "ub_read_bw(GB/s)": [2.0]}
    value = build_trace(meta, {"name": ["Conv"], "dur_ns": [1], **columns})
    new = redacted(value)
    assert isinstance(new, Trace)
    names = [name for name in new.calls.columns if name not in CALL_COLUMNS]
    assert names == ["aic_mac_ratio", "<path>/x.so calls", "ub_read_bw(GB/s)"]
    assert "alice" not in inspection_json(new).decode()


def test_what_a_file_says_of_its_job_names_no_folder_of_a_person() -> None:
    path = "/home/alice/run"
    job = Job(1, 2, (Group(path, path, (0, 1)),), (path,))
    table = collectives_frame(source_row=np.array([0]), group=[path], kind=["all_reduce"])
    value = replace(
        trace(["allreduce"], Meta("kineto", "t", job=job)), collectives=Collectives(table)
    )
    new = redacted(value)
    assert isinstance(new, Trace) and new.meta.job is not None and new.collectives is not None
    assert (new.meta.job.rank, new.meta.job.world) == (1, 2)
    [group] = new.meta.job.groups
    assert new.collectives.table["group"].tolist() == [group.name]
    assert "alice" not in repr(new.meta.job) + new.collectives.table.to_string()


TOKEN = "tok-5d41402abc4b2a76"
WITH_ARGUMENTS = (
    "ascend_trace_view", "chrome_trace", "kineto", "mindspore_cpu_timeline", "msprof_timeline",
    "onnxruntime",
)  # fmt: skip


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_free_metadata_of_a_trace_is_in_no_export(name: str) -> None:
    """PyTorch writes what add_metadata_json() was given into the head of a trace, other tools put
    settings into arguments: access tokens of a service stood there. Nothing of that is read, so
    nothing of it is handed on, redacted or not."""
    (path,) = (FOLDER / name).glob("*.json")
    content = json.loads(path.read_bytes())
    told = {"token": TOKEN, "env": {"HUB": f"https://hub.example.org/?access_token={TOKEN}"}}
    if isinstance(content, dict):
        content |= {"hub_token": TOKEN, "environment": told, "distributedInfo": told}
    for event in content if isinstance(content, list) else content["traceEvents"]:
        event.setdefault("args", {}).update(told)
    value = read(Source(path.name, json.dumps(content).encode()))
    assert isinstance(value, Trace)
    assert len(value.calls) == len(read(Source(path.name, path.read_bytes())).calls)
    sides = side_of_trace(value), side_of_trace(replace(value))
    made = exports(compare(*sides)) + inspection_json(value).decode()
    several = compare_several([*sides, side_of_trace(replace(value))])
    made += several_perfetto_json(several).decode()
    page = multiple_html(several, include_environment=True)
    made += page + b" ".join(files_of(data_of(page)).values()).decode(errors="replace")
    assert TOKEN not in made
