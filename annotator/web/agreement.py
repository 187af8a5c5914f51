"""How far the judges agree."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database
from annotator.workflows import agreement

blueprint = Blueprint("agreement", __name__)


@blueprint.get("/collections/<slug>/agreement")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """Cohen's kappa of every two judges."""
    with database().reading() as session:
        report = agreement.agreement_report(session, slug)
    return render_template("agreement/show.html", report=report)
