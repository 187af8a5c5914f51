"""Documents and topics as JSON for the judging screen; no runs, sampling reasons or other judges."""

from collections.abc import Sequence
from typing import Any

from flask import url_for
from flask_wtf.csrf import generate_csrf
from markupsafe import Markup

from annotator.evaluation.search.search_snippets import Mark
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judge_history import JudgeNote, OwnJudgement, RecentJudgement, ShownDocument
from annotator.web.documents.document_parts import Parts
from annotator.web.site.context import the_person, the_place
from annotator.web.site.safe_html import Rendering
from annotator.workflows.judging.clarifications import TopicClarification
from annotator.workflows.judging.judge_desk import Beside
from annotator.workflows.judging.judging import JudgingTask
from annotator.workflows.judging.taking_along import Kept
from annotator.workflows.judging.training_attempts import TrainingTask

# The pages of each queue and the addresses for its script; both queues have views of the same names.
ENDPOINTS = {
    Queue.JUDGING: ("judging", "judging_protocol"),
    Queue.ADJUDICATION: ("adjudicating", "adjudicating_protocol"),
}
# The cache of long documents of this process.
PARTS = Parts()


def document_json(document: ShownDocument, previous: int | None = None) -> dict[str, Any]:
    """A document with its first part and the judge's own judgement; `previous` is the assignment judged before it."""
    parts = parts_of(document)
    # Only adjudicators are sent these.
    given = {"given": list(document.given)} if document.given else {}
    notes = {"notes": [_note_json(one) for one in document.notes]} if document.notes else {}
    again = {"again": document.asked_again.value} if document.asked_again else {}
    return {
        "assignment": document.assignment_id,
        "docno": document.docno,
        "title": document.title,
        "url": document.url if (document.url or "").startswith(("http://", "https://")) else None,
        "language": document.language,
        "html": parts[0] if parts else "",
        "parts": max(len(parts), 1),
        "renderings": PARTS.renderings(_key(document), document.body) if document.body else (),
        "decision": _decision_json(document.judgement) if document.judgement else None,
        "previous": previous,
        **given,
        **notes,
        **again,
    }


def parts_of(document: ShownDocument, rendering: Rendering | None = None) -> tuple[Markup, ...]:
    """The document's text as safe HTML, in parts; empty for a document without a text."""
    return PARTS.of(_key(document), document.body, rendering) if document.body else ()


def _key(document: ShownDocument) -> str | None:
    return document.text_hash or document.body


def batch_json(
    slug: str,
    task: JudgingTask,
    beside: Beside,
    *,
    to_come: int = 0,
    back: str | None = None,
    queue: Queue = Queue.JUDGING,
    kept: Kept | None = None,
) -> dict[str, Any]:
    """The initial data of the screen: topic, scale, assigned documents, and addresses."""
    documents = [document_json(document) for document in task.documents]
    documents[0]["previous"] = task.previous_assignment_id
    return {
        "person": the_person().id,
        "csrf": generate_csrf(),
        "urls": _urls(slug, task.topic_number, back, queue),
        "topic": topic_json(task, beside),
        "scale": scale_json(),
        "epoch": beside.epoch,
        "guidelines": beside.guidelines.number,
        "documents": documents,
        "recent": [_recent_json(one) for one in task.recent],
        "counts": {"judged": task.judged, "total": task.judged + task.waiting + to_come, "put_off": task.put_off},
        "note": beside.note,
        "marks": list(beside.marks),
        "answers": beside.answers,
        "clarifications": _clarifications_json(beside),
        "along": {"documents": kept.documents, "until": kept.until.isoformat()} if kept and kept.until else None,
    }


def topic_json(task: JudgingTask | TrainingTask, beside: Beside) -> dict[str, Any]:
    """The topic of a document, with the words to highlight."""
    return {
        "number": task.topic_number,
        "title": task.topic_title,
        "description": task.topic_description,
        "narrative": task.topic_narrative,
        "language": task.topic_language,
        "words": words_json(beside.words),
    }


def scale_json() -> list[dict[str, Any]]:
    """The grades of the collection of this page."""
    return [
        {"value": grade.value, "name": grade.name, "description": grade.description}
        for grade in the_place().collection.scale
    ]


def words_json(words: Sequence[Mark]) -> list[dict[str, str]]:
    """The words of a topic that are marked in its documents, none where the organisers switched that off."""
    if not the_place().collection.judges_highlight:
        return []
    return [{"text": mark.text, "kind": mark.kind.value} for mark in words]


def _clarifications_json(beside: Beside) -> dict[str, Any]:
    rows = [clarification_json(row) for row in beside.clarifications]
    return {"newest": beside.newest_clarification, "rows": rows}


def clarification_json(row: TopicClarification) -> dict[str, Any]:
    """A clarification without the author and the document of its question."""
    return {"id": row.id, "question": row.question, "text": row.text, "new": row.is_new}


def _urls(slug: str, number: str, back: str | None, queue: Queue) -> dict[str, str | None]:
    """The addresses for the script; `assignments` is extended by a number and `.json` or `/parts/2`."""
    pages, protocol = ENDPOINTS[queue]
    offline = {}
    searching = {}
    if queue == Queue.JUDGING and the_place().collection.judges_search:
        searching = {
            "search": url_for("searching.hits", slug=slug, number=number),
            "found": url_for("searching.document", slug=slug, number=number),
            "found_acts": url_for("searching.acts", slug=slug, number=number),
        }
    if queue == Queue.JUDGING:
        offline = {
            "worker": url_for("taking_along.worker", slug=slug),
            "take": url_for("taking_along_protocol.take", slug=slug, number=number),
            "give_back": url_for("taking_along_protocol.give_back", slug=slug, number=number),
        }
    return {
        **offline,
        **searching,
        "acts": url_for(f"{protocol}.acts", slug=slug, number=number),
        "session": url_for(f"{protocol}.session_now", slug=slug),
        "assignments": url_for(f"{pages}.show", slug=slug, assignment_id=0).removesuffix("0"),
        "onward": url_for(f"{protocol}.topic_after", slug=slug, number=number),
        "page": url_for(f"{pages}.next_document", slug=slug, number=number),
        "back": back,
        "topics": url_for(f"{pages}.topics", slug=slug),
        "note": url_for("judge_desk.save_note", slug=slug, number=number),
        "marks": url_for("judge_desk.save_marks", slug=slug, number=number),
        "questions": url_for("questions.own", slug=slug),
        "read": url_for("questions.read", slug=slug),
        "clarifications": url_for("clarifications.of_topic", slug=slug, number=number),
        "seen": url_for("clarifications.seen", slug=slug, number=number),
    }


def _recent_json(one: RecentJudgement) -> dict[str, Any]:
    """A judged document without its text, which the script fetches when the judge looks at it."""
    decision = {"id": one.client_id, "grade": one.grade, "cannot_judge": one.cannot_judge, "note": one.note}
    return {"assignment": one.assignment_id, "docno": one.docno, "title": one.title, "decision": decision}


def _note_json(one: JudgeNote) -> dict[str, Any]:
    """A judge's note, whose name and time the browser of an adjudicator does not get."""
    decision = one.decision
    reason = decision.cannot_judge if decision else None
    return {
        "note": one.note,
        "evidence": [passage._asdict() for passage in one.evidence],
        **({"grade": decision.grade, "cannot_judge": reason.value if reason else None} if decision else {}),
    }


def _decision_json(judgement: OwnJudgement) -> dict[str, Any]:
    decision = judgement.decision
    return {
        "id": judgement.client_id,
        "grade": decision.grade,
        "cannot_judge": decision.cannot_judge.value if decision.cannot_judge else None,
        "note": decision.note,
        "evidence": [passage._asdict() for passage in judgement.evidence],
    }
