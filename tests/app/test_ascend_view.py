"""The Ascend view on the Compare page: columns of kernel_details, counters before and after."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from fusescope.app.parts import panels
from tests.app.pages import column, figures, has_table, is_clean, table
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json

Start = Callable[..., AppTest]
KERNELS = (
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Input Shapes,"
    "Input Data Types,Input Formats,aicore_time(us),mac_ratio,vec_ratio,mte2_ratio,"
    "cube_utilization(%)\n"
    '1,aclnnMatmul_MatMulV3Common_MatMulV3,MatMulV3,AI_CORE,1000.000,100.000,0,"32,64;64,16",'
    "FLOAT16;FLOAT16,FORMAT_ND;FORMAT_ND,80,{mac},0,0.25,90\n"
    '1,aclnnAdd_AddAiCore_Add,Add,AI_CORE,1100.000,50.000,0,"32,16",FLOAT16,FORMAT_ND,40,0,0.2,'
    "0.8,0\n"
)


def upload(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    page.file_uploader[0].set_value(
        [(name, data, "application/octet-stream") for name, data in files]
    )
    return page.run()


def test_ascend_files_open_in_the_ascend_view(start: Start) -> None:
    page = upload(
        start(),
        ("unfused.csv", KERNELS.format(mac=0.5).encode()),
        ("fused.csv", KERNELS.format(mac=0.25).encode()),
    )
    assert is_clean(page)
    heads = list(table(page, 0).columns)
    times = [("Duration(us)", name) for name in ("baseline", "candidate", "change", "speedup")]
    assert heads == [("", "Name"), ("", "Type"), *times]
    more = ["Accelerator Core", "Cube ratio, %", "Input Shapes"]
    page.pills(key="ascend_columns").set_value(more).run()
    cells = table(page, 0)
    assert cells[("", "Accelerator Core")].eq("AI_CORE").all()
    product = cells[cells[("", "Type")] == "MatMulV3"].iloc[0]
    assert product[("Duration(us)", "baseline")] == 100.0
    assert product[("Cube ratio, %", "baseline")] == 50.0
    assert product[("Cube ratio, %", "candidate")] == 25.0
    assert product[("", "Input Shapes")] == "32,64;64,16"
    assert page.dataframe[1].proto.row_height == 76, "three lines of a definition"
    totals = table(page, 1).set_index("Counter")
    assert totals.loc["cube ratio", "baseline"] == "33.3 %"  # 0.5 · 80 / (80 + 40)
    assert totals.loc["cube ratio", "candidate"] == "16.7 %"
    assert totals.loc["cube ratio", "change"] == "−16.6 pt"  # of the two as they are printed
    assert totals.loc["memory bound", "baseline"] == "1.08×"  # (20 + 32) / (40 + 8)
    # On the cards counters stand for models that these files cannot feed.
    assert list(figures(page))[3:8] == [
        "kernels",
        "device busy",
        "idle share",
        "cube utilisation",
        "memory bound",
    ]
    # The other columns are one click away.
    page.segmented_control(key="ascend_view").set_value("operators").run()
    assert ("Duration per step, µs", "baseline") in list(table(page, 0).columns)
    assert has_table(page, "", "OP type")
    assert not any("Counter" in frame.value for frame in page.dataframe)  # the totals are gone


def test_other_traces_have_no_ascend_view(start: Start) -> None:
    page = upload(
        start(),
        ("before.json", profile_json(UNFUSED_OPERATORS, runs=3)),
        ("after.json", profile_json(FUSED_OPERATORS, runs=3)),
    )
    assert ("", "Accelerator Core") not in list(table(page, 0).columns)
    assert "ascend_view" not in [control.key for control in page.segmented_control]


def test_launchers_are_a_kind_only_where_a_trace_names_them(start: Start) -> None:
    page = start()
    offered = [panels.segment(name) for name in ("Op types", "Classes", "Modules", "Launched by")]
    assert page.segmented_control(key="kind").options == offered[:3]
    data = KERNELS.format(mac=0.5)
    page = upload(page, ("unfused.csv", data.encode()), ("fused.csv", (data + "\n").encode()))
    kinds = page.segmented_control(key="kind")
    assert kinds.options == [*offered[:2], offered[3]]
    kinds.set_value("launched_by").run()
    assert is_clean(page)
    assert "aclnnMatmul" in column(page, "", "Launched by")
