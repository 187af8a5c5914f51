"""Labels made elsewhere: import a file of them as one judge's, a person's or a machine's; list the files."""

from dataclasses import replace

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.judging.judging import resource
from annotator.api.site.access import ORGANISE, READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.problems import FileProblem, file_problem
from annotator.api.site.values import Moment, Text, input_format
from annotator.errors import InvalidValueError
from annotator.evaluation.formats.input_formats import Holds
from annotator.storage.agreement.machines import MachineFacts
from annotator.web.site.background import report_reading
from annotator.web.site.context import database, now, settings
from annotator.workflows.collections import restoring
from annotator.workflows.judging import judgement_import

LABELS, PROMPT = "labels", "prompt"  # the parts of the form


class LabelsQuery(Schema):
    """Whose labels they are, and what becomes of documents outside the pool."""

    judge = Text(
        required=True,
        metadata={"description": "The judge who gave the grades; a new name becomes an account without a password."},
    )
    machine = fields.Boolean(
        load_default=False,
        metadata={
            "description": (
                "The judge is a machine: its labels are kept apart from those of people, and those outside the scale "
                "are listed, not counted."
            )
        },
    )
    model = Text(load_default="", metadata={"description": "The model of the machine, with its version."})
    date = fields.Date(load_default=None, metadata={"description": "The day on which the machine made its labels."})
    add_to_pool = fields.Boolean(
        load_default=False,
        metadata={
            "description": (
                "Add documents outside the pool to it; otherwise they are refused, and those of a machine stored apart."
            )
        },
    )
    dry_run = fields.Boolean(load_default=False, metadata={"description": "Only check and count; nothing is stored."})
    input_format = input_format(Holds.LABELS)


class LabelsImported(Schema):
    """What an import of labels came to."""

    judge = fields.String(required=True, metadata={"description": "The judge whose labels they are."})
    added = fields.Integer(required=True, metadata={"description": "The number of labels that are new."})
    changed = fields.Integer(required=True, metadata={"description": "The number of grades that were replaced."})
    known = fields.Integer(required=True, metadata={"description": "The number of labels that changed nothing."})
    unjudged = fields.Integer(required=True, metadata={"description": "The number of labels -1: unjudged."})
    pooled = fields.Integer(required=True, metadata={"description": "The number of documents added to the pool."})
    outside = fields.Integer(
        required=True, metadata={"description": "The number of a machine's labels that are not on the scale."}
    )
    outside_pool = fields.Integer(
        required=True,
        metadata={"description": "The number of a machine's labels for documents that are not in the pool."},
    )
    outside_labels = fields.List(
        fields.Nested(FileProblem),
        required=True,
        metadata={"description": "The labels that are not on the scale, at most a hundred, with their lines."},
    )


class LabelImportView(Schema):
    """A file of labels that was imported."""

    number = fields.Integer(
        required=True, metadata={"description": "The number of the import, by which it can be deleted."}
    )
    name = fields.String(required=True, metadata={"description": "The name of the file."})
    judge = fields.String(required=True, metadata={"description": "The judge whose labels they are."})
    imported_at = Moment(required=True, metadata={"description": "When it was imported, in UTC."})


@operation(
    resource,
    "POST",
    "/collections/<slug>/judgements/imports",
    ORGANISE,
    Gives(LabelsImported),
    Takes(query=LabelsQuery, parts=[LABELS, PROMPT]),
)
def import_labels(call: Call) -> object:
    """Import a file of labels as the judgements of one judge, completely or not at all.

    The part “labels” is the file, qrels or labels; “prompt” is the prompt of a machine, as text. Sending it
    again changes nothing. A file of more than 4 MiB, unpacked, is processed by a background job.
    """
    query = call.query
    machine = _machine(call)
    if len(call.files[LABELS]) > 1:
        raise InvalidValueError("Send one file of labels at a time.")
    [file] = report_reading([replace(one, input_format=query["input_format"]) for one in call.files[LABELS]])
    with database().reading() as session:
        checked = judgement_import.check_judgements(
            session,
            call.slug,
            file,
            add_to_pool=query["add_to_pool"],
            by_machine=query["machine"],
            unpacked_limit=settings().unpacked_limit,
        )
    with database().transaction(keep=not query["dry_run"]) as session:
        stored = judgement_import.store_judgements(
            session, call.slug, checked, judge=query["judge"], machine=machine, added_at=now()
        )
        note(session, "judgements.import", call.slug, subject=query["judge"], details=vars(stored))
    outside = list(map(file_problem, checked.problems_outside()))
    return {"judge": query["judge"], **vars(stored), "outside_labels": outside}


@operation(
    resource,
    "GET",
    "/collections/<slug>/judgements/imports",
    READ,
    Gives(LabelImportView, many=True),
    Takes(pages=True),
)
def list_label_imports(call: Call) -> object:
    """List the imported files of labels, newest first; deletions take their numbers."""
    return database().read(restoring.list_label_imports, call.slug)


def _machine(call: Call) -> MachineFacts | None:
    """What is known of the machine, None for a person."""
    prompt = "".join(_decoded(file.content) for file in call.files[PROMPT])
    facts = MachineFacts(call.query["model"].strip(), prompt, call.query["date"])
    if call.query["machine"]:
        return facts
    if facts != MachineFacts():
        raise InvalidValueError("A model, a prompt and a date are of a machine: say “machine=true”, too.")
    return None


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValueError("The prompt is no text in UTF-8.") from error
    if "\0" in text:
        raise InvalidValueError("The prompt is no text in UTF-8.")
    return text.replace("\r\n", "\n")
