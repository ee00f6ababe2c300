"""The Engines page: recordings of one engine, of several together, and of several apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from fusescope.analysis.experiment import Engine
from tests.app.pages import address, headline, is_clean, markdown_texts, texts, turn_to
from tests.engine_experiments import SAMPLES, two_engines
from tests.factories import experiment_zip
from tests.patience import GIVE_UP_S

Start = Callable[..., AppTest]
SCRIPT = """
import streamlit as st
from fusescope.app.views import engines

compare_page = st.Page(lambda: st.write("compare"), title="Compare", url_path="compare")
engines_page = st.Page(
    lambda: engines.show(compare_page), title="Engines", default=True
)
st.navigation([engines_page, compare_page], position="top").run()
"""
HOSTILE = "![a](http://127.0.0.1:9/pix) :red[boo]"


def opened() -> AppTest:
    return AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S).run()


def test_a_sample_of_four_engines_stands_where_nothing_was_recorded(tree: Path) -> None:
    (tree / "samples" / "engines").symlink_to(SAMPLES / "engines")
    page = opened()
    assert is_clean(page)
    assert "Sample: a file that comes with FuseScope, not one of yours." in texts(page)
    [frame] = [one.value for one in page.dataframe]
    engines = {name.partition(":")[0] for name in frame["Variant"]}
    assert engines == {"onnxruntime", "openvino", "torch", "jax"}
    assert frame["Latency"].notna().all() and frame["Peak memory"].notna().all()
    # Five doubts have a line each, five of single pairs share one; the method is behind a fold.
    assert any(told.startswith("5 doubts. 5 more concern the profiles") for told in texts(page))
    assert any("5 doubts concern the profiles of single pairs" in told for told in texts(page))
    measured = page.expander[0]
    assert measured.label == "How this was measured" and "Bonferroni" in measured.text[0].value
    compared = page.selectbox(key="choose_engines").value
    assert compared == address(page)["engines"] == "engines:transformer_encoder"


def test_one_engine_alone_says_how_to_record_several(tree: Path) -> None:
    (tree / "recordings" / "one.zip").write_bytes(experiment_zip({"unfused": [1.0] * 5}))
    page = opened()
    assert is_clean(page)
    assert [head.value.replace("\\", "") for head in page.subheader] == [
        "onnxruntime alone ran this model. To compare engines, record several:"
    ]
    assert "fusescope collect tiny --runtime onnxruntime,openvino" in texts(page)
    assert not page.dataframe


def test_a_model_written_for_its_engine_leads_to_one_that_several_take(tree: Path) -> None:
    file = SAMPLES / "mindspore" / "mynet_composite.zip"
    (tree / "recordings" / "own.zip").symlink_to(file)
    page = opened()
    assert is_clean(page)
    [head] = page.subheader
    assert head.value.replace("\\", "").startswith(
        "mindspore alone ran this model, which is written for it."
    )
    assert "fusescope collect mobilenetv2 --runtime onnxruntime,openvino" in texts(page)
    assert "mindspore:mynet" not in " ".join(texts(page))


def test_engines_that_were_recorded_together(tree: Path) -> None:
    (tree / "recordings" / "two.zip").write_bytes(two_engines())
    page = opened()
    assert is_clean(page)
    assert address(page)["engines"] == "recorded:two.zip"
    [frame] = [one.value for one in page.dataframe]
    assert list(frame["Variant"]) == ["onnxruntime:fused", "openvino:fused"]
    assert [engine.partition(" ")[0] for engine in frame["Engine"]] == ["onnxruntime", "openvino"]
    assert list(frame["Precision"]) == ["float32", "float32"]
    assert frame["Peak memory"].notna().all()
    assert page.selectbox(key="choose_engines").options == [
        "mobilenetv2 · onnxruntime and openvino (2026-11-22 11:29)"
    ]
    shown = " ".join(texts(page))
    assert "The sides ran in different engines" in shown
    assert "did not alternate" not in shown


def test_recordings_of_one_engine_each_are_compared_beyond_drift(tree: Path) -> None:
    """10 ms to 9.5 ms is less than the 12 % by which a machine may drift; to 4 ms is more."""
    fast = Engine(HOSTILE, "1", "CPU")
    for name, ms, engine in (("a", 10.0, None), ("b", 9.5, Engine("near", "1", "CPU")),
                             ("c", 4.0, fast)):  # fmt: skip
        times = {"fused": [ms + b / 100 for b in range(8)]}
        changes = {"engine": engine} if engine else None
        (tree / "recordings" / f"{name}.zip").write_bytes(experiment_zip(times, changes=changes))
    page = opened()
    assert is_clean(page)
    [frame] = [one.value for one in page.dataframe]
    results = dict(zip(frame["Variant"], frame["Against the baseline"], strict=True))
    assert results["near:fused"] == "cannot tell"
    assert sorted(results.values()) == ["baseline", "cannot tell", "faster"]
    assert any("3 recordings, which did not alternate" in text for text in texts(page))
    assert "is the fastest of the 3" in headline(page)
    assert not any("![a]" in text or ":red[boo]" in text for text in markdown_texts(page))


def links_to_engines(page: AppTest) -> list[str]:
    return [
        link.proto.query_string
        for link in page.get("page_link")
        if link.proto.label == "All engines in one table"
    ]


def test_compare_leads_to_all_engines_and_engines_show_what_was_compared(
    tree: Path, start: Start
) -> None:
    (tree / "recordings" / "two.zip").write_bytes(two_engines())
    pair = ("recorded:two.zip/openvino:fused", "recorded:two.zip/onnxruntime:fused")
    page = start(baseline=pair[0], candidate=pair[1])
    assert is_clean(page)
    assert links_to_engines(page) == ["engines=recorded%3Atwo.zip"]
    turn_to(page, "engines")
    assert is_clean(page)
    of_pair = [box.value for box in page.selectbox if "engines_first" in str(box.key)]
    of_pair += [box.value for box in page.selectbox if "engines_second" in str(box.key)]
    assert tuple(of_pair) == pair


def test_compare_of_one_engine_leads_to_no_engines(tree: Path, start: Start) -> None:
    (tree / "recordings" / "one.zip").write_bytes(experiment_zip({"a": [2.0] * 5, "b": [1.0] * 5}))
    page = start(baseline="recorded:one.zip/a", candidate="recorded:one.zip/b")
    assert is_clean(page) and not links_to_engines(page)
