"""Who asks about runs: an organiser, who may see and do everything, or a participant, held to a team and to rules."""

from annotator.errors import NotFoundError
from annotator.web.site.context import database, now, the_person, the_place
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import SenderState


def own_team() -> str | None:
    """The team of a participant, whose runs are all they may see; None for an organiser, who sees all."""
    place = the_place()
    if place.organises:
        return None
    if place.team is None:
        raise NotFoundError("You belong to no team in this collection.")
    return place.team


def sender_state(slug: str) -> SenderState | None:
    """What keeps a participant from sending; None for an organiser, whom nothing keeps from it."""
    if the_place().organises:
        return None
    return database().read(submissions.sender_state, slug, the_person().id, now=now())
