"""How often intervals of estimates contain the truth, and what estimating costs.

    python -m benchmarks.estimates [--rounds N]
    python -m benchmarks.estimates --qrels FILE --runs FILE... [--machine FILE...] [--relevant-from G] [--draws N]
        [--each N]

Without files, the time for 129 runs of 50 topics with 10 strata, made at random. With files of a judged collection,
samples of a fifth of each topic are drawn again and again: the standard error of the design with the machine at full
weight, the share of 95 % intervals that contain the truth, and the bias in standard errors. With `--each` the strata
are of rank and the machine's grade, as in a planned sample, and that many documents are drawn from each.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from annotator.evaluation.estimation.difference_estimator import estimate_topics, no_weights
from annotator.evaluation.estimation.estimated_measures import EstimatedMeasure, estimated_measure
from annotator.evaluation.estimation.estimates import differences, estimate
from annotator.evaluation.estimation.sampled_topic import UNKNOWN, CompletedTopic, FrameRanks, SampledTopic, Values
from annotator.evaluation.metrics.names import parse_measure
from annotator.library.inputs import grades_of, lists_by_run
from benchmarks.costs import Cost, cost_of_call

MEASURES = ("P@10", "DCG@10", "nDCG@10")
FURTHER = ("R@100", "AP")  # of strata of rank and grade
DEPTH, BANDS = 100, (3, 10, 30)  # ranks of the frame, and the last ones of its bands; the first is judged whole
SHARE = 5  # one document in so many is drawn
ALL_RUNS, ALL_TOPICS, STRATA, DOCUMENTS = 129, 50, 10, 1500
ACCURACY = 0.7  # of the machine


def main() -> None:
    """Measure time on made topics, or coverage on a judged collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qrels", type=Path)
    parser.add_argument("--runs", type=Path, nargs="+")
    parser.add_argument("--machine", type=Path, nargs="*", default=[])
    parser.add_argument("--relevant-from", type=int, default=1)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--each", type=int, help="documents of each stratum of rank and the machine's grade")
    given = parser.parse_args()
    if given.qrels is None:
        measure_time(given.rounds)
        return
    for machine in given.machine or [None]:
        topics, tags = judged_topics(given.qrels, given.runs, machine)
        print(f"\n{'no machine' if machine is None else machine.name}")
        if given.each is not None:
            topics = [in_planned_strata(topic) for topic in topics]
            for name in (*MEASURES, *FURTHER):
                how = estimated_measure(parse_measure(name), given.relevant_from)
                print_coverage(name, topics, how, given.draws, of_each=given.each)
            continue
        for name in MEASURES:
            how = estimated_measure(parse_measure(name), given.relevant_from)
            print_design(name, topics, tags, how)
            print_coverage(name, topics, how, given.draws)


def measure_time(rounds: int) -> None:
    """Print what the leaderboard and all differences take."""
    random = np.random.default_rng(1)
    topics = [made_topic(random) for _ in range(ALL_TOPICS)]
    for name in (*MEASURES, "AP"):
        how = estimated_measure(parse_measure(name), 1)
        found = estimate(topics, how)
        if found is None:
            raise SystemExit("nothing could be estimated")
        board = Cost.middle([cost_of_call(lambda: estimate(topics, how)) for _ in range(rounds)])  # noqa: B023 - called at once
        pairs = Cost.middle([cost_of_call(lambda: differences(found.together)) for _ in range(rounds)])  # noqa: B023
        print(f"{name:8}  estimates {board.wall * 1000:6.0f} ms   all differences {pairs.wall * 1000:6.0f} ms")


def made_topic(random: np.random.Generator) -> SampledTopic:
    """A topic of a deep pool, 8 documents judged of each stratum."""
    people = random.choice(4, DOCUMENTS, p=[0.7, 0.15, 0.1, 0.05]).astype(np.int16)
    machine = np.where(random.random(DOCUMENTS) < ACCURACY, people, random.integers(0, 4, DOCUMENTS)).astype(np.int16)
    ranks = np.zeros((ALL_RUNS, DOCUMENTS), np.int32)
    for run in range(ALL_RUNS):
        order = np.argsort(-(people + random.normal(0, 2, DOCUMENTS)))[:1000]
        ranks[run, order] = np.arange(1, 1001)
    strata = np.digitize(np.where(ranks > 0, ranks, 9999).min(axis=0), np.arange(1, STRATA) * 4)
    return drawn(SampledTopic(strata, ranks, people, machine), random, lambda size: min(8, size))


def judged_topics(qrels: Path, runs: Sequence[Path], machine: Path | None) -> tuple[list[SampledTopic], list[str]]:
    """Return the topics of the qrels, one stratum each, all judged; and the tags of the runs."""
    people, lists = grades_of(qrels), lists_by_run(list(runs))
    labels = {} if machine is None else grades_of(machine)
    topics = []
    for topic, grades in people.items():
        docnos = np.array([docno.encode() for docno in grades])
        empty = np.zeros(0, "S1")
        ranks = FrameRanks.of(docnos, [of[topic].docnos if topic in of else empty for of in lists.values()]).ranks
        of_machine = None if machine is None else np.array([labels[topic][docno] for docno in grades], np.int16)
        strata = np.zeros(docnos.size, np.intp)
        topics.append(SampledTopic(strata, ranks, np.array(list(grades.values()), np.int16), of_machine))
    return topics, list(lists)


def print_design(name: str, topics: Sequence[SampledTopic], tags: Sequence[str], how: EstimatedMeasure) -> None:
    """Print for each run the exact standard error of the design, with the machine at full weight."""
    weight = 0.0 if topics[0].machine is None else 1.0
    variance: Values = np.zeros(len(tags))
    for topic in topics:
        completed = CompletedTopic(topic, np.full(1, weight))
        influence = how.numerator(completed).slopes * completed.residuals(how.value)
        size = topic.grades.size
        sampled = -(-size // SHARE)
        variance += size * (size / sampled - 1) * influence.var(axis=1, ddof=1)
    if name != "nDCG@10":
        for tag, error in zip(tags, np.sqrt(variance) / len(topics), strict=True):
            print(f"{name:8}  {tag:32}  standard error of the design {error:.6f}")


def in_planned_strata(topic: SampledTopic) -> SampledTopic:
    """The documents in the top of a run, in strata of best rank and, below the first band, the machine's grade."""
    best = np.where(topic.ranks > 0, topic.ranks, topic.grades.size + DEPTH).min(axis=0)
    inside = best <= DEPTH
    band = np.searchsorted(BANDS, best)
    grade = np.zeros_like(band) if topic.machine is None else np.maximum(topic.machine, 0)
    strata = np.where(band == 0, 0, 1 + (band - 1) * (int(grade.max()) + 1) + grade)
    machine = None if topic.machine is None else topic.machine[inside]
    return SampledTopic(strata[inside], topic.ranks[:, inside], topic.grades[inside], machine)


def print_coverage(
    name: str, topics: Sequence[SampledTopic], how: EstimatedMeasure, draws: int, *, of_each: int | None = None
) -> None:
    """Print how often intervals contain the truth, over the topics that an estimate is over."""
    exact = np.array([one.values for one in estimate_topics(topics, how, no_weights(topics))])
    hits, off = [], []
    for seed in range(draws):
        random = np.random.default_rng(seed)
        found = estimate([_drawn_again(topic, random, of_each) for topic in topics], how)
        if found is not None:
            off.append(found.together.values - exact[list(found.used)].mean(axis=0))
            hits.append(np.abs(off[-1]) <= found.together.half_widths)
    bias = np.mean(off, axis=0) / np.std(off, axis=0)
    covered = np.mean(hits, axis=0)
    print(
        f"{name:8}  of {draws} draws, intervals with the truth: {100 * covered.mean():.1f} % "
        f"({100 * covered.min():.1f} to {100 * covered.max():.1f} by run); bias {bias.mean():+.2f} standard errors "
        f"({bias.min():+.2f} to {bias.max():+.2f})"
    )


def _drawn_again(topic: SampledTopic, random: np.random.Generator, of_each: int | None) -> SampledTopic:
    """Draw a fifth of each stratum; with `of_each`, that many documents, but the whole of the first."""
    if of_each is None:
        return drawn(topic, random, lambda size: -(-size // SHARE))
    sample = drawn(topic, random, lambda size: min(of_each, size))
    return replace(sample, grades=np.where(topic.strata == 0, topic.grades, sample.grades))


def drawn(topic: SampledTopic, random: np.random.Generator, count: Callable[[int], int]) -> SampledTopic:
    """Draw some documents of each stratum."""
    grades = np.full(topic.grades.size, UNKNOWN)
    for label in topic.labels.tolist():
        members = np.flatnonzero(topic.strata == label)
        chosen = random.permutation(members)[: count(members.size)]
        grades[chosen] = topic.grades[chosen]
    return replace(topic, grades=grades)


if __name__ == "__main__":
    main()
