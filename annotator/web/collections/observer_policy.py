"""How observers and participants see the results: which grades they are based on, without judges' names."""

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

A_JUDGE = "judge"  # the judge is selected in another field


# Roles that read results; the views restrict the rest to organisers.
READERS = (Role.ORGANISER, Role.OBSERVER)


def policy_shown(policy: str) -> str:
    """A policy as the reader may know it: only organisers see the name of the judge whose grades are used."""
    return A_JUDGE if judge_of(policy) and not the_place().organises else policy


def released_grades(round_number: int | None = None, *, residual: bool = False, task: str | None = None) -> GradesFrom:
    """The grades for released scores: those of the release's qrels version, on its own scale, or live grades.

    With a round, only its runs are scored, on the residual collection if `residual`; with a task, its runs.
    """
    version = the_place().scored_by
    by = LIVE if version is None else GradesFrom(version=version.number, as_kept=True)
    return replace(by, round=round_number, residual=round_number is not None and residual, task=task)


def rule_choices() -> list[SelectChoice]:
    """Every consensus policy except adjudicated ones, with its name and explanation."""
    return [
        SelectChoice(name, f"{POLICIES.get(name, name)}: {say(sentence)}")
        for name, sentence in consensus_policies().items()
        if not name.startswith(ADJUDICATED_ELSE)
    ]


def rule_or_judge_choices() -> list[SelectChoice]:
    """The same choices, and the grades of a single judge."""
    return [*rule_choices(), SelectChoice(A_JUDGE, gettext("one judge: only the grades of the judge named below."))]


def policy_of(rule: str, *, adjudicated: bool, judge: str) -> str:
    """The stored form of a policy, from the fields of a form."""
    if rule == A_JUDGE:
        return ONE_JUDGE + judge.strip()
    return ADJUDICATED_ELSE + rule if adjudicated else rule


def rule_of(policy: str) -> str:
    """The rule that a form shows for a stored policy."""
    return A_JUDGE if policy.startswith(ONE_JUDGE) else policy.removeprefix(ADJUDICATED_ELSE)


def judge_of(policy: str) -> str:
    """The judge named by a stored policy, or an empty string."""
    return policy.removeprefix(ONE_JUDGE) if policy.startswith(ONE_JUDGE) else ""


def is_adjudicated(policy: str) -> bool:
    """Whether a stored policy uses adjudicated grades."""
    return policy.startswith(ADJUDICATED_ELSE)
