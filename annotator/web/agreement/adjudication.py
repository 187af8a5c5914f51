"""How the adjudication goes on, for organisers: what is in dispute, what was decided, and whose grade it was.

The screen on which adjudicators decide is `adjudicating`.
"""

from flask import Blueprint, render_template

from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now
from annotator.workflows.agreement import adjudication
from annotator.workflows.people import members

blueprint = Blueprint("adjudication", __name__)


@blueprint.get("/collections/<slug>/adjudication")
@collection_page(Role.ORGANISER)
def show(slug: str) -> str:
    """By topic, and by judge."""
    with database().reading() as session:
        report = adjudication.show_adjudication(session, slug, now=now())
        roles = {member.role for member in members.list_members(session, slug)}
    return render_template(
        "agreement/adjudication/show.html", report=report, has_adjudicators=Role.ADJUDICATOR in roles
    )
