"""Rounds of runs, the release of scores to participants, and the guidelines, for organisers."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.collections.collection import GuidelinesView, resource
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text, one_of
from annotator.storage import ScoresShown
from annotator.web.site.context import database, now
from annotator.workflows.collections import collection, rounds
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.qrels import qrels_versions
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import ReleaseRequest
from annotator.workflows.runs import submissions


class RoundView(Schema):
    """A round: a set of runs on the same topics."""

    number = fields.Integer(required=True, metadata={"description": "The number of the round, from 1."})
    name = fields.String(required=True, metadata={"description": "The name of the round; may be empty."})
    opened_at = Moment(required=True, metadata={"description": "When it was opened, in UTC."})
    closed_at = Moment(
        required=True, allow_none=True, metadata={"description": "When it was closed, in UTC; null while it is open."}
    )
    version = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The version of the qrels that was kept when it was closed; null while it is open."},
    )
    runs = fields.Integer(required=True, metadata={"description": "The number of its active runs."})
    judged_before = fields.Integer(
        required=True, metadata={"description": "The number of documents with a grade from earlier rounds."}
    )


class RoundBody(Schema):
    """The round to open."""

    name = Text(load_default="", metadata={"description": "The name of the round; may be empty."})


class ReleaseBody(Schema):
    """Which scores participants see; what is left out stays as it is."""

    shown = one_of(
        ScoresShown,
        load_default=None,
        metadata={
            "description": (
                "own: their team's scores; beside: also the worst, the median and the best of all; whole: also the "
                "leaderboard with names; nothing."
            )
        },
    )
    since = Text(
        load_default=None,
        data_key="from",
        metadata={"description": "When, such as “2026-05-01 23:59 AoE”, or now; first: now."},
    )
    qrels = Text(
        load_default=None,
        metadata={"description": "A kept version of the qrels, new: keep one, or live; first: new."},
    )
    early = fields.Boolean(
        load_default=False, metadata={"description": "Release the scores before the deadline for runs."}
    )


class ReleaseView(Schema):
    """Which scores participants see."""

    shown = fields.String(
        required=True, metadata={"description": "How much participants see from then on: own, beside or whole."}
    )
    released_at = Moment(
        required=True, allow_none=True, metadata={"description": "From when, in UTC; null: they see no scores."}
    )
    version = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The version of the qrels that scores are computed from; null: the live grades."},
    )


class GuidelinesBody(Schema):
    """A new version of the guidelines."""

    text = Text(required=True, metadata={"description": "The guidelines, in Markdown."})


class AcceptanceView(Schema):
    """Which guidelines a judge has accepted."""

    judge = fields.String(required=True, metadata={"description": "The name of the judge."})
    number = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The version accepted last; null: none."}
    )


@operation(resource, "GET", "/collections/<slug>/rounds", READ, Gives(RoundView, many=True), Takes(pages=True))
def list_rounds(call: Call) -> object:
    """List the rounds, oldest first; none if all runs belong together."""
    return database().read(rounds.list_rounds, call.slug)


@operation(resource, "POST", "/collections/<slug>/rounds", ORGANISE, Gives(RoundView, 201), Takes(body=RoundBody))
def open_round(call: Call) -> object:
    """Open the next round: runs sent from now on belong to it."""
    with database().transaction() as session:
        number = rounds.open_round(session, call.slug, name=call.body["name"], at=now())
        note(session, "rounds.open", call.slug, subject=number)
    return database().read(rounds.list_rounds, call.slug)[-1]


@operation(resource, "POST", "/collections/<slug>/rounds/close", ORGANISE, Gives(RoundView))
def close_round(call: Call) -> object:
    """Close the open round, and keep the settled grades as a version of the qrels.

    No runs are accepted until the next round is open; a closed round cannot be opened again.
    """
    at = now()
    made = database().read(export_qrels, call.slug, to_keep=True, made_at=at)
    with qrels_versions.storing_grades(database(), call.slug, made) as stored, database().transaction() as session:
        closed = qrels_versions.close_round(session, call.slug, stored, by_id=caller().id, at=at)
        note(session, "rounds.close", call.slug, subject=closed.number, details={"qrels": closed.version})
    return database().read(rounds.list_rounds, call.slug)[closed.number - 1]


@operation(resource, "GET", "/collections/<slug>/release", READ, Gives(ReleaseView))
def show_release(call: Call) -> object:
    """Show which scores participants see."""
    return _release(database().read(collection.show_collection, call.slug))


@operation(resource, "PUT", "/collections/<slug>/release", ORGANISE, Gives(ReleaseView), Takes(body=ReleaseBody))
def release_scores(call: Call) -> object:
    """Release scores to participants: of runs uploaded before, from a time on, by kept or live qrels."""
    at, wanted = now(), call.body
    shown = None if wanted["shown"] is None else ScoresShown(wanted["shown"])
    with database().reading() as session:
        released_at = collection.show_collection(session, call.slug).scores_released_at
        keeps = submissions.keeps_version(wanted["qrels"], shown, released_at)
        made = export_qrels(session, call.slug, to_keep=True, made_at=at) if keeps else None
    since = None if wanted["since"] is None else submissions.read_release_moment(wanted["since"]) or at
    request = ReleaseRequest(since, shown, wanted["qrels"], wanted["early"])
    storing = qrels_versions.storing_for_release(database(), call.slug, made)
    with storing as stored, database().transaction() as session:
        done = qrels_versions.release_scores(session, call.slug, request, stored, by_id=caller().id, at=at)
        if done.new_version is not None:
            note(session, "qrels.keep", call.slug, subject=done.new_version)
        released = _release(done.collection)
        details = {"shown": shown, "from": released["released_at"], "qrels": released["version"]}
        note(session, "scores.release", call.slug, details=details)
    return released


@operation(resource, "DELETE", "/collections/<slug>/release", ORGANISE, Gives(ReleaseView))
def withhold_scores(call: Call) -> object:
    """Withhold scores from participants again."""
    with database().transaction() as session:
        submissions.take_scores_back(session, call.slug)
        note(session, "scores.take-back", call.slug)
    return _release(database().read(collection.show_collection, call.slug))


@operation(
    resource, "PUT", "/collections/<slug>/guidelines", ORGANISE, Gives(GuidelinesView), Takes(body=GuidelinesBody)
)
def set_guidelines(call: Call) -> object:
    """Publish a new version of the guidelines, which judges accept before they go on; the same text changes nothing."""
    with database().transaction() as session:
        number = collection.set_guidelines(session, call.slug, call.body["text"], made_by_id=caller().id, made_at=now())
        note(session, "guidelines.set", call.slug, subject=number)
    return database().read(collection.show_guidelines, call.slug)


@operation(
    resource,
    "GET",
    "/collections/<slug>/guidelines/acceptances",
    READ,
    Gives(AcceptanceView, many=True),
    Takes(pages=True),
)
def list_acceptances(call: Call) -> object:
    """List the judges, each with the version of the guidelines that they have accepted."""
    return database().read(collection.list_acceptances, call.slug)


def _release(row: CollectionView) -> dict[str, object]:
    version = row.released_version
    return {
        "shown": row.scores_shown,
        "released_at": row.scores_released_at,
        "version": None if version is None else version.number,
    }
