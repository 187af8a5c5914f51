"""What everybody may read of a collection without signing in, and the same as files of a web site."""

from flask.typing import ResponseReturnValue
from marshmallow import Schema, fields

from annotator.api.collections.audit import note, note_export
from annotator.api.leaderboard.scores import resource
from annotator.api.site.access import ORGANISE
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Text, one_of
from annotator.storage import PublicScores
from annotator.web.leaderboard.public_memory import exported_pages
from annotator.web.site.context import database
from annotator.web.site.downloads import BYTES, download
from annotator.workflows.leaderboard.public_scores import PublicChange, change_public, show_public

SCORES = (
    "nothing: there is no public page; task: the page of the task, without a leaderboard; relative: above or below the "
    "median; everything: the scores of all runs."
)
VEILED = "Whether teams and runs have the pseudonyms of the release kit."
MEASURES = "The measures, or none for the usual ones; the runs are in the order of the first."
DESCRIPTION = "A description of the task, as plain text."
GUIDELINES = "Whether the guidelines of the judges are shown."
CITATION = "How to cite; empty: the organisers, with title and year."
ALLOWED = "Names of teams and runs that may occur in texts, as ordinary words."


class PublicPagesBody(Schema):
    """What everybody may read; what is left out stays as it is."""

    scores = one_of(PublicScores, load_default=None, metadata={"description": SCORES})
    veiled = fields.Boolean(load_default=None, metadata={"description": VEILED})
    measures = fields.List(Text, load_default=None, metadata={"description": MEASURES})
    description = Text(load_default=None, metadata={"description": DESCRIPTION})
    guidelines = fields.Boolean(load_default=None, metadata={"description": GUIDELINES})
    citation = Text(load_default=None, metadata={"description": CITATION})
    allowed = fields.List(Text, load_default=None, metadata={"description": ALLOWED})


class PublicPagesView(Schema):
    """What everybody may read."""

    scores = fields.String(required=True, metadata={"description": SCORES})
    veiled = fields.Boolean(required=True, metadata={"description": VEILED})
    measures = fields.List(fields.String(), required=True, metadata={"description": MEASURES})
    description = fields.String(required=True, metadata={"description": DESCRIPTION})
    guidelines = fields.Boolean(required=True, metadata={"description": GUIDELINES})
    citation = fields.String(required=True, metadata={"description": CITATION})
    allowed = fields.List(fields.String(), required=True, metadata={"description": ALLOWED})


@operation(resource, "GET", "/collections/<slug>/public-pages", ORGANISE, Gives(PublicPagesView))
def show_public_pages(call: Call) -> object:
    """Show what everybody may read without signing in."""
    return database().read(show_public, call.slug)


@operation(
    resource, "PUT", "/collections/<slug>/public-pages", ORGANISE, Gives(PublicPagesView), Takes(body=PublicPagesBody)
)
def set_public_pages(call: Call) -> object:
    """Set what everybody may read without signing in; scores from their release by a kept version of the qrels on."""
    asked = dict(call.body)
    for name in ("measures", "allowed"):
        asked[name] = None if asked[name] is None else tuple(asked[name])
    asked["scores"] = None if asked["scores"] is None else PublicScores(asked["scores"])
    with database().transaction() as session:
        settings = change_public(session, call.slug, PublicChange(**asked))
        note(session, "scores.publish", call.slug, details=settings.noted)
    return settings


@operation(resource, "GET", "/collections/<slug>/public-pages/files", ORGANISE, Gives(media=[BYTES]))
def export_public_pages(call: Call) -> ResponseReturnValue:
    """Export the public pages as files for another web site, a zip file; refused while nothing is public."""
    content = exported_pages(call.slug)
    note_export("scores.export-pages", call.slug)
    return download(content, f"{call.slug}-pages.zip", BYTES)
