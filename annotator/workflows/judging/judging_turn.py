"""What a judge's browser asks for with each judgement, in one transaction: to store it, to draw, and to count."""

from collections.abc import Collection as SizedIterable
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError, NotFoundError
from annotator.storage.judging.drawing import Queue, drawing_apart, wait_for_other_tabs
from annotator.storage.judging.judge_history import ShownDocument
from annotator.workflows.judging.judging import more_documents
from annotator.workflows.judging.judging_counts import Counted, count_on
from annotator.workflows.judging.recording import Act, Recorded, record_acts

# What can stand against drawing.
Stopped = BusyError | ConflictError | NotFoundError


@dataclass(frozen=True)
class Turn:
    """What came of it: what is stored, the documents drawn or why there are none, and the count, if one was known."""

    recorded: Recorded
    documents: Sequence[ShownDocument]
    stopped: Stopped | None
    counted: Counted | None


def take_turn(
    session: Session,
    slug: str,
    topic_number: str,
    judge_id: int,
    acts: Sequence[Act],
    *,
    holds: SizedIterable[int] | None,
    known: Counted | None,
    at: datetime,
    queue: Queue = Queue.JUDGING,
) -> Turn:
    """Store the acts, draw for a browser that has the documents of `holds` (None: draw nothing), and count on.

    What stands against the drawing refuses nothing of what was said. Raises `NotFoundError` as `record_acts` does.
    """
    if holds is not None:
        # Before the assignments are locked: who draws holds this lock and then renews them.
        wait_for_other_tabs(session, judge_id)
    recorded = record_acts(session, slug, judge_id, acts, received_at=at, queue=queue)
    documents: Sequence[ShownDocument] = ()
    stopped: Stopped | None = None
    if holds is not None:
        try:
            with drawing_apart(session):
                documents = more_documents(session, slug, topic_number, judge_id, holds=holds, now=at, queue=queue)
        except (BusyError, ConflictError, NotFoundError) as refusal:
            stopped = refusal
    return Turn(recorded, documents, stopped, count_on(session, known, judge_id) if known else None)
