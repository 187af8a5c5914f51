"""Documents whose text changed after they were judged, and documents with almost the same text; for organisers."""

from collections.abc import Sequence

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.documents.documents import resource
from annotator.api.site.access import ORGANISE, READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.values import Moment, Text
from annotator.web.site.context import database, now
from annotator.workflows.documents import documents, near_duplicates
from annotator.workflows.documents.near_duplicates import SimilarDocument


class OldJudgementView(Schema):
    """A judgement of the earlier text, which still counts."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    judge = fields.String(required=True, metadata={"description": "The name of the judge."})
    grade = fields.Integer(required=True, allow_none=True)
    cannot_judge = fields.String(required=True, allow_none=True)
    judged_at = Moment(required=True, metadata={"description": "When they judged, in UTC."})


class ChangedDocumentView(Schema):
    """A document with another text than was judged."""

    docno = fields.String(required=True)
    text_changed_at = Moment(required=True, metadata={"description": "When the text changed, in UTC."})
    judgements = fields.List(
        fields.Nested(OldJudgementView),
        required=True,
        metadata={"description": "The judgements of the earlier text, which still count."},
    )


class ChosenBody(Schema):
    """Which of the changed documents."""

    docnos = fields.List(
        Text,
        required=True,
        allow_none=True,
        metadata={"description": "The documents; null for all whose text has changed."},
    )


class DecidedCount(Schema):
    """How many documents it concerned."""

    documents = fields.Integer(
        required=True, metadata={"description": "The number of documents, counted once for each topic."}
    )


class LikenessQuery(Schema):
    """Which topic, and how similar."""

    topic = Text(required=True, metadata={"description": "The number of the topic."})
    at_least = fields.Float(
        load_default=near_duplicates.USUALLY_AT_LEAST,
        metadata={"description": "The least similarity, the Jaccard coefficient of shingles: 0.5 to 1."},
    )


class JudgeGrade(Schema):
    """The grade of a judge."""

    judge = fields.String(required=True, metadata={"description": "The name of the judge."})
    grade = fields.Integer(required=True, metadata={"description": "The grade."})


class SimilarView(Schema):
    """One of two similar documents."""

    docno = fields.String(required=True)
    title = fields.String(required=True)
    grades = fields.List(
        fields.Nested(JudgeGrade), required=True, metadata={"description": "The grades that it was given as shown."}
    )


class PairView(Schema):
    """Two similar documents of a topic."""

    similarity = fields.Float(required=True, metadata={"description": "From 0 to 1: the same shingles."})
    differs = fields.Boolean(
        required=True,
        allow_none=True,
        metadata={"description": "Whether their grades differ; null when one of them has none."},
    )
    first = fields.Nested(SimilarView, required=True, metadata={"description": "One document."})
    second = fields.Nested(SimilarView, required=True, metadata={"description": "The other document."})


class IdenticalView(Schema):
    """A document that is not shown, because another one has the same text."""

    docno = fields.String(required=True)
    shown_instead = fields.String(required=True, metadata={"description": "The document that is shown instead."})
    title = fields.String(required=True)
    carried = fields.Integer(required=True, metadata={"description": "The number of judgements it has from that one."})


class LikenessView(Schema):
    """The documents of a topic that repeat others, or nearly do."""

    number = fields.String(required=True, metadata={"description": "The number of the topic."})
    title = fields.String(required=True)
    documents = fields.Integer(required=True, metadata={"description": "The number of different texts in the pool."})
    pairs = fields.List(
        fields.Nested(PairView),
        required=True,
        allow_none=True,
        metadata={
            "description": "Pairs of similar documents, most similar first; null when the texts are too long to be "
            "compared here: the command “pool near-duplicates list” compares any number."
        },
    )
    identical = fields.List(
        fields.Nested(IdenticalView),
        required=True,
        metadata={"description": "Documents that have the same text as another."},
    )
    more = fields.Boolean(required=True, metadata={"description": "Whether there may be more pairs than were found."})


@operation(
    resource,
    "GET",
    "/collections/<slug>/changed-documents",
    READ,
    Gives(ChangedDocumentView, many=True),
    Takes(pages=True),
)
def list_changed_documents(call: Call) -> object:
    """List the documents whose text changed after they were judged, with the judgements of the earlier text."""
    return [
        {**vars(one), "judgements": [judgement._asdict() for judgement in one.judgements]}
        for one in database().read(documents.changed_documents, call.slug)
    ]


@operation(
    resource,
    "POST",
    "/collections/<slug>/changed-documents/requeue",
    ORGANISE,
    Gives(DecidedCount),
    Takes(body=ChosenBody),
)
def requeue_changed_documents(call: Call) -> object:
    """Have changed documents judged again; the old grades no longer count and stay in the history."""
    docnos: Sequence[str] | None = call.body["docnos"]
    with database().transaction() as session:
        count = documents.requeue_changed(session, call.slug, docnos, at=now())
        note(session, "documents.requeue", call.slug, details={"documents": count})
    return {"documents": count}


@operation(
    resource,
    "POST",
    "/collections/<slug>/changed-documents/confirm",
    ORGANISE,
    Gives(DecidedCount),
    Takes(body=ChosenBody),
)
def confirm_changed_documents(call: Call) -> object:
    """Keep the grades of changed documents for their new text."""
    docnos: Sequence[str] | None = call.body["docnos"]
    with database().transaction() as session:
        count = documents.let_changed_stand(session, call.slug, docnos)
        note(session, "documents.let-stand", call.slug, details={"documents": count})
    return {"documents": count}


@operation(
    resource, "GET", "/collections/<slug>/near-duplicates", READ, Gives(LikenessView), Takes(query=LikenessQuery)
)
def show_near_duplicates(call: Call) -> object:
    """Show the documents of a topic's pool that have the same text as another, or almost the same."""
    with database().reading() as session:
        found = near_duplicates.show_likeness(
            session,
            call.slug,
            call.query["topic"],
            call.query["at_least"],
            most_characters=near_duplicates.MOST_CHARACTERS,
            most_compared=near_duplicates.MOST_COMPARED,
        )
    pairs = found.pairs and [
        {
            "similarity": pair.similarity,
            "differs": pair.differs,
            "first": _similar(pair.first),
            "second": _similar(pair.second),
        }
        for pair in found.pairs
    ]
    return {**vars(found), "pairs": pairs}


def _similar(document: SimilarDocument) -> dict[str, object]:
    return {**vars(document), "grades": [{"judge": judge, "grade": grade} for judge, grade in document.grades]}
