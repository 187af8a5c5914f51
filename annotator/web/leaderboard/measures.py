"""What every measure says of itself."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.web.site.access import signed_in_page
from annotator.workflows.leaderboard.scoring import list_measures

blueprint = Blueprint("measures", __name__)


@blueprint.get("/measures")
@signed_in_page
def show() -> ResponseReturnValue:
    """Every measure with its definition, its range, its edges, and what it takes in brackets."""
    return render_template("leaderboard/measures.html", measures=list_measures())
