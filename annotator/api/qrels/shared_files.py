"""The files that participants of a collection download, by program."""

import re

from flask import Response
from marshmallow import Schema, fields

from annotator.api.collections.audit import note_export
from annotator.api.collections.collection import resource
from annotator.api.site.access import SEE_RUNS, without_scope
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.web.qrels.file_responses import file_sent, files_listed
from annotator.web.site.downloads import JSON, JSON_LINES, PLAIN
from annotator.workflows.people.tokens import Scope
from annotator.workflows.qrels.shared_files import SharedKind

# What a program needs to send runs.
FOR_RUNS = re.compile(r"topics(-[^/]+)?\.jsonl|run-rules\.json|guidelines\.md")
KINDS = ", ".join(kind for kind in SharedKind if kind is not SharedKind.CHECKSUMS)


class SharedFileView(Schema):
    """A file to download."""

    name = fields.String(required=True, metadata={"description": "The name, by which it is downloaded."})
    kind = fields.String(required=True, metadata={"description": f"Its content: {KINDS}."})
    task = fields.String(
        required=True, allow_none=True, metadata={"description": "The key of the task whose topics it has."}
    )
    version = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The number of the version of the qrels."}
    )
    lines = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The number of its lines; null with a problem."}
    )
    bytes = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Its size as it is sent, before compression; null with a problem."},
    )
    sha256 = fields.String(
        required=True, allow_none=True, metadata={"description": "Of the bytes that are sent; null with a problem."}
    )
    problem = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Why the file cannot be downloaded, such as qrels while runs are accepted; or null."},
    )
    dropped_topics = fields.List(
        fields.String(),
        required=True,
        metadata={
            "description": "Topics in the qrels that are not scored: they were dropped after the version was kept."
        },
    )


@operation(resource, "GET", "/collections/<slug>/files", SEE_RUNS, Gives(SharedFileView, many=True), Takes(pages=True))
def list_shared_files(call: Call) -> object:
    """List the files for participants, with their checksums: topics, rules, and what organisers share.

    Qrels are those of the scores that are released, once no more runs are accepted. Organisers see what participants
    may download, with rules of their own.
    """
    return [one.row() for one in files_listed(call.slug).files]


@operation(resource, "GET", "/collections/<slug>/files/<name>", SEE_RUNS, Gives(media=[PLAIN, JSON_LINES, JSON]))
def load_shared_file(call: Call) -> Response:
    """Download one of the files, by its name in the list, or SHA256SUMS, which `sha256sum --check` reads.

    SHA256SUMS is the same for each team: it leaves out run-rules.json, which differs by team and with each upload. With
    the scope `runs` alone: topics, run-rules.json and guidelines.md; the other files need the scope `read`.
    """
    if not FOR_RUNS.fullmatch(call.path["name"]) and (refused := without_scope([Scope.READ])) is not None:
        return refused
    return file_sent(call.slug, call.path["name"], note_export)
