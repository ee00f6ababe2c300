"""The Scaling page: a model that was recorded with several settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.experiment import Settings
from fusescope.app.sources import places
from tests.app.pages import address, is_clean, markdown_texts, texts
from tests.factories import experiment_zip
from tests.patience import GIVE_UP_S

SCRIPT = """
import streamlit as st
from fusescope.app.views import scaling

compare_page = st.Page(lambda: st.write("compare"), title="Compare", url_path="compare")
scaling_page = st.Page(
    lambda: scaling.show({"compare": compare_page}), title="Scaling", default=True
)
st.navigation([scaling_page, compare_page], position="top").run()
"""
TIMES = {"unfused": [10.0] * 8}
HOSTILE = "![a](http://127.0.0.1:9/pix) :red[boo]"


def opened() -> AppTest:
    return AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S).run()


def test_recordings_of_one_model_and_none(tree: Path) -> None:
    page = opened()
    assert is_clean(page)
    assert [head.value for head in page.subheader] == [
        "No model was recorded with several settings"
    ]
    for name in ("tiny", HOSTILE):
        for threads in (1, 2):
            data = experiment_zip(
                {"unfused": [10.0 / threads] * 8, HOSTILE: [5.0] * 8},
                model_name=name,
                changes={"settings": Settings("unfused", threads, False, 0, 3, 3, 1, (8,))},
            )
            (tree / "recordings" / f"{name[:4]}{threads}.zip").write_bytes(data)
    page = opened()
    assert is_clean(page)
    model = page.selectbox(key="choose_sweep")
    page = model.set_value("zoo:tiny").run()
    assert page.header[0].value == "Scaling of tiny" and address(page)["sweep"] == "zoo:tiny"
    assert any("10.0 ms" not in text and "200 /s" in text for text in texts(page))
    assert any(text.startswith("1 doubt. Every setting is a rec") for text in texts(page))
    [frame] = [one.value for one in page.dataframe]
    assert list(frame["Parallel efficiency"]) == ["–", "50.0 % (50.0 to 50.0 %)"]
    page = page.selectbox(key="choose_sweep").set_value(f"zoo:{HOSTILE}").run()
    assert is_clean(page)
    assert not any("![a]" in text or ":red[boo]" in text for text in markdown_texts(page))


def test_files_of_the_command_line_are_opened_here_too(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = []
    for threads in (1, 2):
        paths.append(tree / f"{threads}.zip")
        settings = Settings("unfused", threads, False, 0, 3, 3, 1, (8,))
        paths[-1].write_bytes(experiment_zip(TIMES, changes={"settings": settings}))
    monkeypatch.setenv(places.FILES_VARIABLE, os.pathsep.join(map(str, paths)))
    page = opened()
    assert is_clean(page) and page.header[0].value == "Scaling of tiny"
    assert set(address(page)) == {"sweep"}  # the pair to compare is kept for its own page
