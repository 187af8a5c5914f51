"""What an organiser has done and what comes next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotator.storage import Role
from annotator.web.site.language import gettext
from annotator.workflows.collections.collection import CollectionCounts, Guidelines
from annotator.workflows.people.members import MemberRow
from annotator.workflows.pools.pools import TopicProgress


@dataclass(frozen=True)
class Step:
    """One step, the page where it is done, and whether it is the first that is still open."""

    words: str
    endpoint: str
    done: bool
    comes_next: bool


def checklist(
    counts: CollectionCounts,
    guidelines: Guidelines,
    members: Sequence[MemberRow],
    progress: Sequence[TopicProgress],
    *,
    missing: int,
    has_deadline: bool,
) -> list[Step]:
    """The steps from an empty collection to judged ones, in order.

    `missing` documents of the pool have no text; `has_deadline` once it is said until when participants send runs.
    """
    items = sum(topic.items for topic in progress)
    complete = sum(topic.complete for topic in progress)
    steps = (
        (gettext("Import the topics"), "topics.show", counts.topics > 0),
        (gettext("Write guidelines for the judges"), "guidelines.show", guidelines.number > 0),
        (gettext("Set the submission deadline"), "submissions.show", counts.runs > 0 or has_deadline),
        (gettext("Upload the runs"), "runs.show", counts.runs > 0),
        (gettext("Plan the pool and build it"), "pool_plan.show", items > 0),
        (gettext("Import the texts of the pooled documents"), "documents.show", items > 0 and not missing),
        (gettext("Appoint judges"), "members.show", any(member.role == Role.JUDGE for member in members)),
        (gettext("Judge the pool"), "pools.show", 0 < items == complete),
    )
    return list(_mark_next(steps))


def _mark_next(steps: Sequence[tuple[str, str, bool]]) -> Iterator[Step]:
    found = False
    for words, endpoint, done in steps:
        yield Step(words, endpoint, done, comes_next=not done and not found)
        found = found or not done
