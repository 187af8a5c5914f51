"""Assigns topics to judges so that the remaining work is balanced."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from annotator.evaluation.formats.identifiers import natural_order


@dataclass(frozen=True)
class TopicWork:
    """A topic with the number of its unjudged documents, and its current owner."""

    number: str
    remaining: int
    owner: str | None = None


def balanced_owners(topics: Iterable[TopicWork], judges: Collection[str], *, reassign: bool = False) -> dict[str, str]:
    """Map topic number → judge for the assigned topics: the largest first, each to the judge with least work so far.

    Topics with remaining documents are assigned: those that none of `judges` owns (owners keep theirs, which counts
    as their work), or all of them with `reassign`. In a tie, the current owner keeps the topic; else
    the judge with fewer topics takes it, then the first by name. So the same state gives the same result for any
    order of the input, and repeating it with `reassign` moves nothing.

    Greedy, longest first (Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics
    17(2), 1969): with `reassign` nobody has more than 4/3 of the least that is possible for the busiest.
    """
    names = sorted(set(judges))
    work = dict.fromkeys(names, 0)
    held = dict.fromkeys(names, 0)
    dealt: list[TopicWork] = []
    for topic in topics:
        if topic.remaining > 0 and (reassign or topic.owner not in work):
            dealt.append(topic)
        elif topic.owner in work:
            work[topic.owner] += topic.remaining
            held[topic.owner] += 1
    owners: dict[str, str] = {}
    for topic in sorted(dealt, key=lambda topic: (-topic.remaining, natural_order(topic.number), topic.number)):
        if not names:
            break
        judge = min(names, key=lambda name: (work[name], name != topic.owner, held[name]))
        owners[topic.number] = judge
        work[judge] += topic.remaining
        held[judge] += 1
    return owners
