"""What observers do not learn of the results they read: the names of judges, which a policy may hold."""

from annotator.storage import Role
from annotator.web.context import the_place
from annotator.web.policy_choices import A_JUDGE, judge_of

# Who reads results; what more of them is for organisers, views and pages say.
READERS = (Role.ORGANISER, Role.OBSERVER)


def policy_shown(policy: str) -> str:
    """A policy as whoever asks may know it: only organisers are told whose grades alone count."""
    return A_JUDGE if judge_of(policy) and not the_place().organises else policy
