"""Streamlit script: page set-up and navigation, nothing else."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

# `streamlit run app/main.py` puts app/ on the path, not the folder that holds the package.
if find_spec("fusescope") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from fusescope.analysis.messages import say
from fusescope.app import language, state
from fusescope.app.parts import glossary, panels
from fusescope.app.parts.start.opening import Shows
from fusescope.app.sources.filled import Name, filled
from fusescope.app.views import former, home


def view(name: str) -> ModuleType:
    """Return the module of a page, loaded when the page is shown: Start needs none of the others,
    which load half as much again."""
    return import_module(f"fusescope.app.views.{name}")


def run() -> None:
    """The page that the address names, in the language that it speaks."""
    language.start()
    panels.set_up()
    compare_page: StreamlitPage = st.Page(
        lambda: view("compare").show(trace_page, record_page, engines_page, shown_on),
        title=say("Compare"),
        url_path="compare",
    )
    former_pages = [
        st.Page(lambda: former.fusion(compare_page), url_path="fusion", visibility="hidden"),
        st.Page(lambda: former.variants(compare_page), url_path="variants", visibility="hidden"),
    ]
    trace_page: StreamlitPage = st.Page(
        lambda: view("trace").show(compare_page, record_page, shown_on),
        title=say("Trace"),
        url_path="trace",
    )
    scaling_page: StreamlitPage = st.Page(
        lambda: view("scaling").show(shown_on), title=say("Scaling"), url_path="scaling"
    )
    engines_page: StreamlitPage = st.Page(
        lambda: view("engines").show(compare_page, shown_on),
        title=say("Engines"),
        url_path="engines",
    )
    record_page: StreamlitPage = st.Page(
        lambda: view("record").show(compare_page, scaling_page, engines_page),
        title=say("Record"),
        url_path="record",
    )
    recipes_page: StreamlitPage = st.Page(
        lambda: view("recipes").show(recipes_page, compare_page),
        title=say("Recipes"),
        url_path="recipes",
    )
    library_page = st.Page(
        lambda: view("library").show(compare_page, trace_page, shown_on),
        title=say("Library"),
        url_path="library",
    )
    fleet_page: StreamlitPage = st.Page(
        lambda: view("fleet").show(compare_page, shown_on), title=say("Fleet"), url_path="fleet"
    )
    releases_page: StreamlitPage = st.Page(
        lambda: view("releases").show(shown_on), title=say("Releases"), url_path="releases"
    )
    shown_on: dict[Shows, StreamlitPage] = {
        "compare": compare_page,
        "trace": trace_page,
        "scaling": scaling_page,
        "fleet": fleet_page,
        "releases": releases_page,
        "record": record_page,
    }
    home_page = st.Page(
        lambda: home.show(shown_on, record_page, library_page),
        title=say("Start"),
        url_path="",
        default=True,
    )
    former_pages.append(
        st.Page(lambda: former.start(home_page), url_path="start", visibility="hidden")
    )
    by_name: dict[Name, StreamlitPage] = {
        "engines": engines_page,
        "scaling": scaling_page,
        "fleet": fleet_page,
        "releases": releases_page,
    }
    has_content = filled(state.files.opened(), state.files.histories())
    shown = st.navigation(
        {
            "": [
                *(home_page, compare_page, *former_pages, trace_page, library_page),
                *(by_name[name] for name in has_content),
            ],
            say("New"): [record_page, recipes_page],
            say("More"): [
                *(page for name, page in by_name.items() if name not in has_content),
            ],
        },
        position="top",
    )
    language.notices()
    shown.run()
    with panels.page():
        glossary.link()
    language.switch()


run()
