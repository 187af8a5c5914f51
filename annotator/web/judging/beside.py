"""What the judging screen shows beside the document on request, as JSON: a judge's pace and their own judgements.

Every figure and every judgement is the judge's own.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Blueprint, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import NotAllowedError
from annotator.storage import Role
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.own_judgements import OwnGraded
from annotator.web.judging.judging_documents import ENDPOINTS
from annotator.web.serving.compression import compressed
from annotator.web.site import json_answers
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.context import database, now, the_person, the_place
from annotator.workflows.judging import consistency, own_pace
from annotator.workflows.judging.consistency import SimilarJudged

blueprint = Blueprint("beside", __name__)
blueprint.after_request(compressed)
json_answers.install(blueprint)

# A day begins at most so long ago, whatever the clock of a browser says.
LONGEST_DAY = timedelta(hours=48)


@blueprint.get("/collections/<slug>/judge/topics/<path:number>/pace.json")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def pace(slug: str, number: str) -> ResponseReturnValue:
    """The judge's pace, what is left, and their grades; `?since=` is when their day began, in seconds of 1970."""
    queue, judge_id = asked_queue(), the_person().id
    to_come = choices_to_come(slug, judge_id) if queue == Queue.JUDGING else None
    with database().reading() as session:
        found = own_pace.own_pace(
            session, slug, number, judge_id, since=_since(), now=now(), queue=queue, to_come=to_come
        )
    return {
        "seconds": found.seconds,
        "today": found.today,
        "left": {"topic": found.left_topic, "all": found.left_all},
        "grades": [one._asdict() for one in found.grades],
        "means": {"today": found.mean_today, "before": found.mean_before},
    }


@blueprint.get("/collections/<slug>/judge/assignments/<row:assignment_id>/similar.json")
@collection_page(Role.JUDGE, Role.ADJUDICATOR)
def similar(slug: str, assignment_id: int) -> ResponseReturnValue:
    """The judge's own judgements of similar documents, and the documents of the topic that they called relevant."""
    with database().reading() as session:
        found = consistency.compare_with_own(session, slug, assignment_id, the_person().id)
    return {
        "similar": [_similar_json(slug, one) for one in found.similar],
        "relevant": [_own_json(slug, one) for one in found.relevant],
        "total": found.relevant_total,
        "compared": found.compared,
        "whole": found.is_whole,
    }


def asked_queue() -> Queue:
    """The queue of `?queue=`, by default that of judging; `NotAllowedError` for one that is not the person's."""
    is_adjudication = request.args.get("queue") == Queue.ADJUDICATION
    place = the_place()
    if not (place.adjudicates if is_adjudication else place.judges):
        raise NotAllowedError(
            "Your role in this collection does not include this page. An organiser of the collection can "
            "change your role."
        )
    return Queue.ADJUDICATION if is_adjudication else Queue.JUDGING


def _since() -> datetime:
    """When the judge's day began; by default that of UTC."""
    at = now()
    midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    given = request.args.get("since", type=int)
    if given is None:
        return midnight
    seconds = min(max(at.timestamp() - given, 0), LONGEST_DAY.total_seconds())
    return at - timedelta(seconds=seconds)


def _own_json(slug: str, one: OwnGraded) -> dict[str, Any]:
    queue = Queue.ADJUDICATION if one.decides else Queue.JUDGING
    return {
        "docno": one.docno,
        "title": one.title,
        "grade": one.decision.grade,
        "cannot_judge": one.decision.cannot_judge.value if one.decision.cannot_judge else None,
        "note": one.decision.note,
        "page": url_for(f"{ENDPOINTS[queue][0]}.show", slug=slug, assignment_id=one.assignment_id),
    }


def _similar_json(slug: str, one: SimilarJudged) -> dict[str, Any]:
    found = one.differences
    return {
        **_own_json(slug, one.document),
        "similarity": one.similarity,
        "here": {"only": found.only_first, "more": found.more_first},
        "there": {"only": found.only_second, "more": found.more_second},
    }
