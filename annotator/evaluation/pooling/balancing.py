"""Deals topics out among judges so that each has about as much left to do."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from annotator.evaluation.formats.identifiers import natural_order


@dataclass(frozen=True)
class TopicWork:
    """A topic with how many of its documents are still to be judged, and who owns it now."""

    number: str
    remaining: int
    owner: str | None = None


def balanced_owners(topics: Iterable[TopicWork], judges: Collection[str], *, anew: bool = False) -> dict[str, str]:
    """Topic number → judge, for the topics that are dealt out: the largest first, each to the judge with least so far.

    Dealt out are topics of which something remains: those that none of `judges` owns (these keep theirs, and it counts
    as their work), or all of them `anew`. Between judges with equally much, the present owner keeps the topic; else
    the one with fewer topics takes it, then the first by name. So the same state gives the same answer, whatever the
    order of the input, and dealing anew twice moves nothing the second time.

    Greedy, longest first (Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics
    17(2), 1969): when all is dealt anew, nobody has more than 4/3 of the least that is possible for the busiest.
    """
    names = sorted(set(judges))
    work = dict.fromkeys(names, 0)
    held = dict.fromkeys(names, 0)
    dealt: list[TopicWork] = []
    for topic in topics:
        if topic.remaining > 0 and (anew or topic.owner not in work):
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
