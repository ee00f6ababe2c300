"""What each step of an engine brings, as a piece of a page."""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup

from fusescope.analysis.compare.multiple.ladder import Ladder
from fusescope.analysis.report.pages import template
from fusescope.analysis.report.pictures.waterfall import falling
from fusescope.analysis.report.text import unbroken
from fusescope.analysis.wording.multiple import ladder as words


def ladder_html(
    ladder: Ladder | None, heading: Literal["h2", "h3"] = "h2", *, has_ledger: bool = False
) -> Markup:
    """The answer, the bars and the steps; '' without a ladder. `has_ledger` where the page sums up
    fusion groups, too."""
    if ladder is None:
        return Markup()
    title = "".join(part.text for part in words.ladder_title(ladder))
    page = template("ladder.html").render(
        heading=heading,
        title=title,
        answer=words.ladder_parts(ladder),
        fall=falling(words.ladder_steps(ladder)),
        fall_label=title,
        steps=[
            {
                "name": words.NAMES[step.code],
                "way": words.step_way(step),
                "text": unbroken(words.step_sentences(step)),
            }
            for step in ladder.steps
        ],
        basis="".join(part.text for part in words.ladder_basis(ladder, has_ledger=has_ledger)),
    )
    return Markup(page)
