"""The release kit of a collection, and who is behind its pseudonyms."""

from io import BytesIO
from pathlib import PureWindowsPath

from flask import Response, request
from flask.typing import ResponseReturnValue
from marshmallow import Schema, fields

from annotator.api.collections.audit import note_export
from annotator.api.leaderboard.scores import resource
from annotator.api.site.access import ORGANISE
from annotator.api.site.door import Call, Gives, Takes, operation, text
from annotator.api.site.jobs_asked import given_to_worker
from annotator.api.site.values import Text
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.evaluation.publishing.kit_files import Publication
from annotator.installed import installed_version
from annotator.web.leaderboard.kit_download import check_zipped_kit, zipped_kit
from annotator.web.site.background import work
from annotator.web.site.context import database, now
from annotator.web.site.downloads import CSV, ZIP, download
from annotator.workflows.leaderboard.release_kit import collection_veil, veil_csv, version_to_publish


class KitBody(Schema):
    """What is published, and how."""

    version = fields.Integer(
        load_default=None,
        metadata={"description": "A kept version of the qrels; by default that of released scores, or the newest."},
    )
    veiled = fields.Boolean(
        load_default=False, metadata={"description": "Replace the names of teams and runs by pseudonyms."}
    )
    allowed = fields.List(
        Text,
        load_default=list,
        metadata={"description": "Names of teams and runs that may occur in texts, as ordinary words."},
    )
    texts = fields.Boolean(load_default=False, metadata={"description": "Include the texts of the documents."})
    measures = fields.List(
        Text, load_default=list, metadata={"description": "The measures of the score files, such as nDCG@10."}
    )
    authors = fields.List(
        Text,
        load_default=list,
        metadata={"description": "Who is cited, as “Family, Given” or the name of a group; by default the organisers."},
    )
    licence = Text(load_default="", metadata={"description": "An SPDX identifier such as CC-BY-4.0, or an address."})
    address = Text(load_default="", metadata={"description": "Where the kit will be published."})


class KitQuery(Schema):
    """What the file is called."""

    name = Text(load_default="kit.zip", metadata={"description": "The file's name, used in the problems."})


class KitChecked(Schema):
    """A kit that is what the database gives."""

    files = fields.Integer(required=True, metadata={"description": "The number of files that were compared."})


@operation(resource, "POST", "/collections/<slug>/kit", ORGANISE, Gives(), Takes(body=KitBody, long=True))
def publish_kit(call: Call) -> ResponseReturnValue:
    """Write a finished collection as a kit to publish: topics, qrels, runs and scores with descriptions, a zip file.

    When the job is done, it is the file of the job. It names no judge. With pseudonyms it is refused while a file has a
    name of a team or run that is not allowed.
    """
    if work() is None:
        return given_to_worker(call.slug, request.get_data())
    asked = call.body
    publication = Publication(
        slug=call.slug,
        version=database().read(version_to_publish, call.slug, asked["version"]),
        veiled=asked["veiled"],
        with_texts=asked["texts"],
        measures=tuple(asked["measures"]) or DEFAULT_MEASURES,
        authors=tuple(asked["authors"]),
        licence=asked["licence"],
        address=asked["address"],
        made_at=now(),
        program=installed_version(),
    )
    content = zipped_kit(publication, asked["allowed"])
    note_export("collections.publish", call.slug, details=publication.noted)
    return download(content, f"{call.slug}-kit.zip", ZIP)


@operation(
    resource,
    "POST",
    "/collections/<slug>/kit/checks",
    ORGANISE,
    Gives(KitChecked),
    Takes(query=KitQuery, file=True, long=True),
)
def check_kit(call: Call) -> object:
    """Compare a kit, sent as a zip file, with what the database gives now; nothing is stored.

    A background job does it. Differences are the problems of its answer, with file and line.
    """
    if work() is None:
        return given_to_worker(call.slug, call.content)
    name = PureWindowsPath(call.query["name"]).name or "kit.zip"
    return {"files": check_zipped_kit(call.slug, name, BytesIO(call.content))}


@operation(resource, "GET", "/collections/<slug>/kit/pseudonyms", ORGANISE, Gives(media=[CSV]))
def list_pseudonyms(call: Call) -> Response:
    """List the pseudonyms of teams and runs in kits with the names behind them, as CSV: kind, name, pseudonym."""
    table = veil_csv(database().read(collection_veil, call.slug))
    note_export("collections.show-pseudonyms", call.slug)
    return text(table, CSV)
