"""Runs: check a file, submit it, list submissions, download the file, withdraw a run."""

from collections.abc import Mapping, Sequence
from pathlib import PureWindowsPath

from flask import Response
from marshmallow import Schema, fields

from annotator.api.collections.audit import actor, note, note_export
from annotator.api.site.access import SEE_RUNS, SEND_RUNS, caller
from annotator.api.site.door import Call, Gives, Takes, operation, resource_of, text
from annotator.api.site.values import Moment, Text, counted, input_format, one_of
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import RunType
from annotator.storage.runs import sent_runs
from annotator.storage.runs.runs import RunDetails
from annotator.web.people.senders import own_team
from annotator.web.site.background import arrived_at, report_reading
from annotator.web.site.context import database, now, settings, the_place
from annotator.web.site.downloads import BYTES
from annotator.workflows.runs import run_upload, runs
from annotator.workflows.runs.questionnaires import parse_answers
from annotator.workflows.runs.run_files import only_runs
from annotator.workflows.runs.run_upload import Submission

resource = resource_of("runs", "The results of the systems. Participants have access to their team's runs only.")

LONGEST_NAME = 255
LEFT_OUT = ("task", "in_closed_round")  # of an answer where they say nothing


class SentRun(Schema):
    """A file of a run that was sent."""

    tag = fields.String(required=True)
    version = fields.Integer(
        required=True, metadata={"description": "The number of the file among those of the tag, from 1."}
    )
    state = fields.String(required=True, metadata={"description": "“in force”, “withdrawn” or “replaced”."})
    team = fields.String(required=True, allow_none=True)
    run_type = fields.String(required=True, data_key="type")
    priority = fields.Integer(required=True)
    description = fields.String(required=True)
    topics = fields.Integer(required=True)
    retrieved = fields.Integer(required=True, metadata={"description": "The number of documents, over all topics."})
    warning_count = fields.Integer(required=True, attribute="warnings")
    file_name = fields.String(required=True)
    checksum = fields.String(required=True, metadata={"description": "SHA-256 of the bytes as they were sent."})
    uploaded_by = fields.String(required=True, allow_none=True)
    uploaded_at = Moment(required=True)
    withdrawn_at = Moment(required=True, allow_none=True)
    round = fields.Integer(required=True, allow_none=True)
    task = fields.String(metadata={"description": "The key of its task; left out for a run without one."})
    in_closed_round = fields.Boolean(
        metadata={
            "description": "True for a run of a closed round: once it is withdrawn, only organisers can restore it."
        }
    )
    same_ranking_as = fields.List(
        fields.String,
        required=True,
        metadata={"description": "Runs of other teams with the same ranking; only for organisers."},
    )


class RunReceipt(SentRun):
    """A stored run with its warnings as text."""

    bytes = fields.Integer(required=True)
    warnings = fields.List(fields.String, required=True, attribute="sentences")


class CheckedFile(Schema):
    """What a file would become."""

    tag = fields.String(required=True)
    topics = fields.Integer(required=True)
    retrieved = fields.Integer(required=True)
    checksum = fields.String(required=True)
    corrects = fields.Boolean(required=True, metadata={"description": "Whether it would replace an earlier file."})
    warnings = fields.List(fields.String, required=True)


class FileQuery(Schema):
    """How a file is to be read."""

    name = Text(load_default="run", metadata={"description": "The file's name, used in problems and receipts."})
    input_format = input_format(Holds.RUNS)
    tag_from_file = fields.Boolean(load_default=False, metadata={"description": "Use the file name as the tag."})
    replaces = fields.Boolean(load_default=False, metadata={"description": "Replace the run with the same tag."})
    team = Text(
        load_default=None,
        metadata={"description": "The team of the run; a participant's run belongs to their own team."},
    )
    task = Text(
        load_default=None,
        metadata={"description": "The key of the task; a new run needs one where the collection has tasks."},
    )


class UploadQuery(FileQuery):
    """The query parameters of a checked file, with the details of the run."""

    description = Text(load_default=None)
    type = one_of([RunType.AUTOMATIC, RunType.MANUAL], load_default=None)
    priority = counted(
        load_default=None,
        metadata={"description": "The pooling priority among the runs of the team: 1 = pooled first."},
    )
    answers = Text(
        load_default="",
        metadata={"description": "A JSON object with the answers to the questionnaire, by key."},
    )
    questionnaire = counted(
        0,
        load_default=None,
        metadata={
            "description": "The version of the questionnaire that the answers are to; refused (409) if it is not asked "
            "any more."
        },
    )


class ListQuery(Schema):
    """Which runs to list."""

    every = fields.Boolean(load_default=False, metadata={"description": "Include withdrawn and replaced runs."})


class VersionQuery(Schema):
    """Which file of a tag."""

    version = counted(load_default=None, metadata={"description": "The Nth file of the tag; by default the newest."})


@operation(
    resource, "GET", "/collections/<slug>/runs", SEE_RUNS, Gives(SentRun, many=True), Takes(query=ListQuery, pages=True)
)
def list_runs(call: Call) -> object:
    """List the active runs by tag, or every submitted file."""
    rows = database().read(runs.list_runs, call.slug, team=own_team(), every=call.query["every"])
    same = _same_rankings(call.slug)
    return [_shown(row, same) for row in rows]


@operation(
    resource, "POST", "/collections/<slug>/runs/check", SEND_RUNS, Gives(CheckedFile), Takes(query=FileQuery, file=True)
)
def check_run(call: Call) -> object:
    """Check a run file: all its problems, or its receipt; nothing is stored.

    A file of more than 4 MiB, unpacked, is processed by a background job.
    """
    with database().reading() as session:
        looked_at = run_upload.check_each_run(
            session,
            call.slug,
            _files(call),
            sender=_sender(call),
            tag_from_file=call.query["tag_from_file"],
            unpacked_limit=settings().unpacked_limit,
            shared=RunDetails(task=call.query["task"]),
        )
    looked_at.problems.report_if_any()
    [checked] = looked_at.runs
    return {
        "tag": checked.parsed.tag,
        "topics": len(checked.parsed.topics),
        "retrieved": checked.parsed.retrieved,
        "checksum": checked.checksum,
        "corrects": checked.corrects,
        "warnings": list(map(str, checked.warnings)),
    }


@operation(
    resource, "POST", "/collections/<slug>/runs", SEND_RUNS, Gives(RunReceipt, 201), Takes(query=UploadQuery, file=True)
)
def upload_run(call: Call) -> object:
    """Submit a run and return its receipt; a file of more than 4 MiB, unpacked, is processed by a background job.

    The same file again is refused (422): after a lost answer, look for the run and its checksum in the list.
    """
    at = arrived_at()  # the time of arrival, as reading a file may end after the deadline
    run_type = None if call.query["type"] is None else RunType(call.query["type"])
    query = call.query
    details = RunDetails(_team(call), query["description"], run_type, query["priority"], task=query["task"])
    done = run_upload.upload(
        database(),
        call.slug,
        _files(call),
        Submission(
            _sender(call),
            details,
            tag_from_file=call.query["tag_from_file"],
            answers=parse_answers(call.query["answers"]),
            asked=call.query["questionnaire"],
            asked_task=call.query["task"],
        ),
        actor=actor(),
        at=at,
        noted_at=now(),
        unpacked_limit=settings().unpacked_limit,
    )
    [receipt] = done.receipts
    return shown_receipt(call.slug, receipt)


@operation(
    resource, "GET", "/collections/<slug>/runs/<path:tag>", SEE_RUNS, Gives(RunReceipt), Takes(query=VersionQuery)
)
def show_run(call: Call) -> object:
    """The receipt of a run."""
    with database().reading() as session:
        receipt = runs.receipt_of(session, call.slug, call.path["tag"], version=call.query["version"], team=own_team())
    return shown_receipt(call.slug, receipt)


@operation(resource, "DELETE", "/collections/<slug>/runs/<path:tag>", SEND_RUNS, Gives(SentRun))
def withdraw_run(call: Call) -> object:
    """Withdraw a run: it is no longer pooled or scored. Its file stays, and so do the documents it contributed.

    With `in_closed_round` in the answer, its team cannot restore it.
    """
    at, tag = now(), call.path["tag"]
    with database().transaction() as session:
        runs.withdraw_run(session, call.slug, tag, at=at, by_id=caller().id, team=own_team())
        note(session, "runs.withdraw", call.slug, subject=tag)
    with database().reading() as session:
        withdrawn = runs.show_run(session, call.slug, tag, team=own_team()).row
    return _shown(withdrawn, {})


@operation(
    resource,
    "GET",
    "/collections/<slug>/runs/<path:tag>/file",
    SEE_RUNS,
    Gives(media=[BYTES]),
    Takes(query=VersionQuery),
)
def run_file(call: Call) -> Response:
    """The file of a run, byte for byte as it was submitted."""
    with database().reading() as session:
        file = runs.original_file(session, call.slug, call.path["tag"], version=call.query["version"], team=own_team())
    note_export("runs.export", call.slug, subject=call.path["tag"])
    return text(file.content, BYTES)


def _files(call: Call) -> Sequence[InputFile]:
    name = PureWindowsPath(call.query["name"]).name[:LONGEST_NAME] or "run"
    return report_reading(only_runs([InputFile(name, call.content, call.query["input_format"])]))


def _sender(call: Call) -> Sender:
    return Sender(_team(call), organises=the_place().organises, replaces=call.query["replaces"])


def _team(call: Call) -> str | None:
    """The team of a run: a participant always submits for their own team."""
    return call.query["team"] if the_place().organises else own_team()


def _same_rankings(slug: str) -> Mapping[int, Sequence[str]]:
    """Tags of runs with the same ranking, for organisers only: participants must not learn of other teams' runs."""
    if not the_place().organises:
        return {}
    return database().read(runs.rankings_sent_twice, slug)


def _shown(run: sent_runs.SentRun, same: Mapping[int, Sequence[str]]) -> dict[str, object]:
    shown = {**vars(run), "same_ranking_as": same.get(run.id, ())}
    return {name: value for name, value in shown.items() if value or name not in LEFT_OUT}


def shown_receipt(slug: str, receipt: sent_runs.Receipt) -> dict[str, object]:
    """A receipt as answered: for organisers with the runs of the same ranking."""
    same = _same_rankings(slug)
    return {**_shown(receipt, same), "sentences": list(map(str, receipt.sentences))}
