"""The restrictions on submitting runs: none for organisers; their team and the rules for participants."""

from annotator.errors import NotFoundError
from annotator.web.site.context import database, now, the_person, the_place
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import SenderState


def own_team() -> str | None:
    """The team of a participant, who may see only its runs; None for an organiser, who sees all."""
    place = the_place()
    if place.organises:
        return None
    if place.team is None:
        raise NotFoundError("You belong to no team in this collection.")
    return place.team


def sender_state(slug: str) -> SenderState | None:
    """What keeps a participant from submitting: deadline or terms; None for an organiser, who is not restricted."""
    if the_place().organises:
        return None
    return database().read(submissions.sender_state, slug, the_person().id, now=now())
