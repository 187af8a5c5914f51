"""What observers and participants read of the results: by which grades, and without the names of judges."""

from dataclasses import replace

from annotator.storage import Role
from annotator.web.collections.policy_choices import A_JUDGE, judge_of
from annotator.web.site.context import the_place
from annotator.workflows.leaderboard.leaderboard import LIVE, GradesFrom

# Who reads results; what more of them is for organisers, views and pages say.
READERS = (Role.ORGANISER, Role.OBSERVER)


def policy_shown(policy: str) -> str:
    """A policy as whoever asks may know it: only organisers are told whose grades alone count."""
    return A_JUDGE if judge_of(policy) and not the_place().organises else policy


def released_grades(round_number: int | None = None, *, residual: bool = False) -> GradesFrom:
    """What released scores are computed from: the version they were released by, on its own scale, or live grades.

    With a round only its runs are scored, by what is left when it is residual.
    """
    version = the_place().scored_by
    by = LIVE if version is None else GradesFrom(version=version.number, as_kept=True)
    return replace(by, round=round_number, residual=round_number is not None and residual)
