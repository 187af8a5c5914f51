"""Topics of which a sample is judged, made at random: for tests of estimates."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.estimation.sampled_topic import UNKNOWN, SampledTopic

GRADES = 4


def judged_topic(
    seed: int, documents: int = 12, runs: int = 3, strata: int = 2, *, accuracy: float = 0.8, topic: int = 0
) -> SampledTopic:
    """A topic of which all documents are judged, and also graded by a machine that is right with some probability."""
    random = np.random.default_rng([seed, topic])
    people = random.choice(GRADES, documents, p=random.dirichlet([4, 2, 2, 2]))
    is_right = random.random(documents) < accuracy
    machine = np.where(is_right, people, random.integers(0, GRADES, documents))
    ranks = np.zeros((runs, documents), np.int32)
    for run in range(runs):
        liked = np.argsort(-(people + random.normal(0, 1.5, documents)))[: documents - run]
        ranks[run, liked] = np.arange(1, liked.size + 1)
    labels = np.sort(np.arange(documents) % strata).astype(np.intp)
    return SampledTopic(labels, ranks, people.astype(np.int16), machine.astype(np.int16))


def only(topic: SampledTopic, drawn: Sequence[int]) -> SampledTopic:
    """The topic with people's grades of these documents only."""
    grades = np.full(topic.grades.size, UNKNOWN)
    grades[list(drawn)] = topic.grades[list(drawn)]
    return replace(topic, grades=grades)


def all_draws(topic: SampledTopic, size: int) -> Iterator[SampledTopic]:
    """Every sample of `size` documents of each stratum; all are equally likely."""
    strata = [np.flatnonzero(topic.strata == label).tolist() for label in topic.labels.tolist()]
    for drawn in product(*(combinations(stratum, size) for stratum in strata)):
        yield only(topic, [document for of_stratum in drawn for document in of_stratum])


def draw(topic: SampledTopic, rates: NDArray[np.float64], random: np.random.Generator) -> SampledTopic:
    """Draw a share of each stratum at random, rounded up."""
    drawn = [
        document
        for label in topic.labels.tolist()
        for members in [np.flatnonzero(topic.strata == label)]
        for document in random.permutation(members)[: int(np.ceil(members.size * rates[label]))].tolist()
    ]
    return only(topic, drawn)
