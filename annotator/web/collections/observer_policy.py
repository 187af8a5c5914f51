"""What observers and participants read of the results: by which grades, and without the names of judges."""

from dataclasses import replace

from wtforms import SelectChoice

from annotator.evaluation.qrels.consensus import ADJUDICATED_ELSE
from annotator.storage import Role
from annotator.web.site.context import the_place
from annotator.web.site.labels import POLICIES
from annotator.web.site.language import gettext
from annotator.web.site.translate import say
from annotator.workflows.collections.collection import consensus_policies
from annotator.workflows.leaderboard.grade_sources import LIVE, GradesFrom

ONE_JUDGE = "judge:"

A_JUDGE = "judge"  # which one stands in a field of its own


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


def rule_choices() -> list[SelectChoice]:
    """Every policy but those by which adjudicators decide, with its name and the sentence that explains it."""
    return [
        SelectChoice(name, f"{POLICIES.get(name, name)}: {say(sentence)}")
        for name, sentence in consensus_policies().items()
        if not name.startswith(ADJUDICATED_ELSE)
    ]


def rule_or_judge_choices() -> list[SelectChoice]:
    """The same, and one judge's grades alone."""
    return [*rule_choices(), SelectChoice(A_JUDGE, gettext("one judge: only the grades of the judge named below."))]


def policy_of(rule: str, *, adjudicated: bool, judge: str) -> str:
    """A policy as it is stored, from the parts of a form."""
    if rule == A_JUDGE:
        return ONE_JUDGE + judge.strip()
    return ADJUDICATED_ELSE + rule if adjudicated else rule


def rule_of(policy: str) -> str:
    """The rule that a form shows for a stored policy."""
    return A_JUDGE if policy.startswith(ONE_JUDGE) else policy.removeprefix(ADJUDICATED_ELSE)


def judge_of(policy: str) -> str:
    """The judge whom a stored policy names, or nothing."""
    return policy.removeprefix(ONE_JUDGE) if policy.startswith(ONE_JUDGE) else ""


def is_adjudicated(policy: str) -> bool:
    """Whether by a stored policy adjudicators decide."""
    return policy.startswith(ADJUDICATED_ELSE)
