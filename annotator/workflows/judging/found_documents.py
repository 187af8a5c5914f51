"""Judgements of documents that a judge found by searching, without opening each on the judging screen."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.storage.judging.judging_state import stored_judgements
from annotator.workflows.documents.search_adding import take_for_judging
from annotator.workflows.judging.act_decisions import Act, Refusal
from annotator.workflows.judging.recording import MOST_ACTS, Recorded, record_acts


@dataclass(frozen=True)
class RecordedFound:
    """What was stored and refused, and the queries whose documents were assigned."""

    recorded: Recorded
    queries: tuple[str, ...]


def record_found(
    session: Session,
    slug: str,
    topic: str,
    judge_id: int,
    acts: Sequence[Act],
    queries: Mapping[str, str],
    *,
    received_at: datetime,
    from_source: Collection[str] = (),
) -> RecordedFound:
    """Assign the judge the document of each act, found by the query of that act (`queries`, by its id), and store it.

    Each act is stored or refused by itself, as `take_for_judging` and `record_acts` do. A resubmitted act is
    acknowledged again, also when judges may no longer search. Documents `from_source` were found by its search.
    """
    acts = acts[:MOST_ACTS]
    stored = stored_judgements(session, [act.id for act in acts])
    assigned: list[Act] = []
    refused: list[Refusal] = []
    for act in acts:
        try:
            query = queries.get(act.id, "")
            assigned.append(_assigned(session, slug, topic, judge_id, act, query, received_at, from_source))
        except AnnotatorError as error:
            if act.id in stored:
                assigned.append(replace(act, again=True))
            else:
                refused.append(Refusal(act.id, error))
    recorded = record_acts(session, slug, judge_id, assigned, received_at=received_at)
    asked = dict.fromkeys(queries[act.id] for act in assigned if act.id in queries and act.id not in stored)
    return RecordedFound(Recorded(recorded.acknowledged, (*refused, *recorded.refused)), tuple(asked))


def _assigned(
    session: Session,
    slug: str,
    topic: str,
    judge_id: int,
    act: Act,
    query: str,
    received_at: datetime,
    from_source: Collection[str],
) -> Act:
    """The act on the judge's assignment of the document; nothing is stored when there can be none."""
    if act.docno is None or (act.topic is not None and act.topic != topic):
        raise InvalidValueError("“%(name)s” does not fit.", name="docno" if act.docno is None else "topic")
    with session.begin_nested():
        assignment_id = take_for_judging(
            session,
            slug,
            topic=topic,
            docno=act.docno,
            query=query,
            judge_id=judge_id,
            now=received_at,
            from_source=from_source,
        )
    # Of documents with the same text the one is assigned that is judged for all, under its own name.
    return replace(act, assignment_id=assignment_id, topic=None, docno=None, again=False)
