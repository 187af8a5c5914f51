"""Ranked lists interleaved, by teams or balanced: the lists to show of several runs, topic by topic."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice

import numpy as np

from annotator.clicks.evaluation.interleaving.interleaved_lists import (
    NO_TEAM,
    NOT_RANKED,
    InterleavedLists,
    Method,
    MixedList,
    Placed,
    draw_orders,
    team_draft,
    turned,
)
from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import natural_order

OF_BALANCED = 2  # so many runs
MOST_LINES = 3_000_000  # of a file of lists, which is held in memory

# By topic, docnos best first.
RankedTopics = Mapping[str, Sequence[str]]


def balanced(first: Sequence[str], second: Sequence[str], depth: int, *, first_leads: bool) -> MixedList:
    """Merge two ranked lists so that every top of the list shown holds as much of one's top as of the other's.

    The list that leads gives the better place where both are as far (Joachims 2002; Radlinski, Kurup and Joachims,
    CIKM 2008). Nobody picks: clicks are told by the ranks that the two gave the documents.
    """
    merged: dict[str, None] = {}
    done = [0, 0]
    rankings = (first, second)
    while len(merged) < depth and done[0] < len(first) and done[1] < len(second):
        leads = 0 if done[0] < done[1] or (done[0] == done[1] and first_leads) else 1
        merged[rankings[leads][done[leads]]] = None
        done[leads] += 1
    # Where a list has ended there is nothing to compare; the other fills the page.
    for ranking, rank in zip(rankings, done, strict=True):
        merged |= dict.fromkeys(ranking[rank:])
    docnos = tuple(islice(merged, depth))
    return MixedList(docnos, (NO_TEAM,) * len(docnos))


def interleave(
    runs: Mapping[str, RankedTopics], method: Method, *, depth: int, lists: int, seed: int
) -> InterleavedLists:
    """Make so many lists for each topic that all runs have, so that different users get different tosses of the coin.

    In every two lists of two runs, or three of three, each run has each turn once: the tosses of few lists would else
    prefer one of them, however many users there are. The lists of a topic depend on its ranked lists and the seed
    alone: the first are the same when more are asked for, or other topics are there. Raises `InvalidValueError` when
    the runs have no topic in common, for balanced interleaving of more than two, and for too many lines.
    """
    if method is Method.BALANCED and len(runs) != OF_BALANCED:
        raise InvalidValueError(
            "Balanced interleaving takes two runs, not %(count)d. Take team-draft for more.", count=len(runs)
        )
    topics = shared_topics(runs)
    if not topics:
        raise InvalidValueError("No topic is in all of these runs, so there is nothing to interleave.")
    if len(topics) * lists * depth > MOST_LINES:
        raise InvalidValueError(
            "The file of lists would have %(count)d lines, more than %(most)d. Ask for fewer lists or shorter ones.",
            count=len(topics) * lists * depth,
            most=MOST_LINES,
        )
    return InterleavedLists(
        method,
        tuple(runs),
        {
            (topic, number): placed
            for topic in topics
            for number, placed in enumerate(_lists_of(topic, runs, method, depth, lists, seed), start=1)
        },
    )


def shared_topics(runs: Mapping[str, RankedTopics]) -> list[str]:
    """Name the topics that all runs have, in the order in which people expect them."""
    return sorted(set.intersection(*(set(topics) for topics in runs.values())), key=natural_order)


def _lists_of(
    topic: str, runs: Mapping[str, RankedTopics], method: Method, depth: int, lists: int, seed: int
) -> Iterator[tuple[Placed, ...]]:
    rankings = [topics[topic] for topics in runs.values()]
    ranks = _ranks(rankings, method)
    for mixed in islice(_mixed(rankings, method, depth, _chance(seed, topic)), lists):
        yield tuple(
            Placed(docno, position, team, tuple(of_run.get(docno, NOT_RANKED) for of_run in ranks))
            for position, (docno, team) in enumerate(zip(mixed.docnos, mixed.teams, strict=True), start=1)
        )


def _ranks(rankings: Sequence[Sequence[str]], method: Method) -> list[dict[str, int]]:
    """Where each run has its documents.

    Balanced lists are told by ranks, so there the runs count as far as the shorter one goes: the longer would win by
    its length.
    """
    end = min(map(len, rankings)) if method is Method.BALANCED else None
    return [{docno: rank for rank, docno in enumerate(ranking[:end], start=1)} for ranking in rankings]


def _mixed(
    rankings: Sequence[Sequence[str]], method: Method, depth: int, chance: np.random.Generator
) -> Iterator[MixedList]:
    """List after list without end; as many as there are runs are of the same tosses, turned from one to the next."""
    while True:
        orders = draw_orders(depth, len(rankings), chance)
        for places in range(len(rankings)):
            turns = turned(orders, places)
            if method is Method.TEAM_DRAFT:
                yield team_draft(rankings, depth, turns)
            else:
                first, second = rankings
                yield balanced(first, second, depth, first_leads=bool(turns[0, 0] == 0))


def _chance(seed: int, topic: str) -> np.random.Generator:
    """What a topic's lists are drawn by; the zero byte keeps seed 1 of topic 23 apart from seed 12 of topic 3."""
    digest = blake2b(f"{seed}\0{topic}".encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))
