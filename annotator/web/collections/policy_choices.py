"""The consensus policies as a form offers them: a rule for judges, or one of them, and whether adjudicators decide."""

from wtforms import SelectChoice

from annotator.evaluation.qrels.consensus import ADJUDICATED_ELSE
from annotator.web.site.labels import POLICIES
from annotator.web.site.language import gettext
from annotator.web.site.translate import say
from annotator.workflows.collections.collection import consensus_policies

ONE_JUDGE = "judge:"
A_JUDGE = "judge"  # which one stands in a field of its own


def rule_choices() -> list[SelectChoice]:
    """Every policy but those by which adjudicators decide, with its name and the sentence that explains it."""
    return [
        SelectChoice(name, f"{POLICIES.get(name, name)}: {say(sentence)}")
        for name, sentence in consensus_policies().items()
        if not name.startswith(ADJUDICATED_ELSE)
    ]


def rule_or_judge_choices() -> list[SelectChoice]:
    """The same, and one judge's grades alone."""
    return [*rule_choices(), SelectChoice(A_JUDGE, gettext("one judge: the grades of the judge named below, alone."))]


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
