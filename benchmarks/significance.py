"""What tests of significance cost: 129 runs of 50 topics, as many as TREC-8 had, made at random.

    python -m benchmarks.significance [--runs N] [--topics N] [--rounds N]

The randomised Tukey test, of 20,000 permutations, may take 10 seconds. Times are medians; the memory is the most that
arrays and objects of one call take.
"""

import argparse
import os
import tracemalloc
from collections.abc import Callable, Mapping

import numpy as np

from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.comparisons import compare_with_baseline, letters, paired_tests
from annotator.evaluation.significance.means import DRAWS, IntervalMethod, run_means
from annotator.evaluation.significance.tukey import PERMUTATIONS, randomised_tukey_hsd, tukey_hsd
from annotator.evaluation.significance.two_runs import FLIPS, compare_two_runs
from annotator.evaluation.significance.variance import topics_to_tell_apart, variance_shares
from benchmarks.costs import Cost, cost_of_call

MOST_SECONDS = 10.0
MOST_MEGABYTES = 200.0
SEED = 1


def main() -> None:
    """Call everything, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=129)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{os.cpu_count()} processors; {os.getloadavg()[0]:.1f} of them were busy before this began.")
    print(f"{given.runs} runs, {given.topics} topics\n")
    print(f"{'':52}  {'wall':>9}  {'processor':>9}  {'memory':>8}")
    for name, work in works(made_scores(given.runs, given.topics)).items():
        measure(name, work, given.rounds)


def made_scores(runs: int, topics: int) -> Values:
    """Topics of very different difficulty, runs that differ a little, and as much noise as in TREC-8."""
    chance = np.random.default_rng(SEED)
    noise = chance.normal(0, 0.12, (runs, topics))
    scores: Values = np.clip(chance.beta(1, 3, topics) + noise + np.linspace(-0.1, 0.1, runs)[:, np.newaxis], 0, 1)
    return scores


def works(scores: Values) -> Mapping[str, Callable[[], object]]:
    """What is measured, by what it is called in the table."""
    tags = [f"run{number}" for number in range(len(scores))]
    first, second = scores[0], scores[len(scores) // 2]
    by_model, by_pair = tukey_hsd(scores), paired_tests(scores)
    return {
        "means, intervals by t": lambda: run_means(scores),
        f"means, intervals by {DRAWS:,} draws": lambda: run_means(scores, IntervalMethod.BOOTSTRAP, seed=SEED),
        f"two runs, {FLIPS:,} flips": lambda: compare_two_runs(first, second, seed=SEED),
        f"a baseline against all, {FLIPS:,} flips": lambda: compare_with_baseline(tags, scores, tags[0], seed=SEED),
        "all pairs, paired t and Holm": lambda: paired_tests(scores),
        "all pairs, Tukey HSD": lambda: tukey_hsd(scores),
        f"all pairs, randomised Tukey HSD, {PERMUTATIONS:,} permutations": lambda: randomised_tukey_hsd(
            scores, seed=SEED
        ),
        "letters of Tukey HSD": lambda: letters(by_model.means, by_model.p),
        "letters of Holm": lambda: letters(by_model.means, by_pair.holm),
        "shares of variance": lambda: variance_shares(scores),
        "topics to tell two runs apart": lambda: topics_to_tell_apart(first, second),
    }


def measure(name: str, work: Callable[[], object], rounds: int) -> None:
    """Call so many times and once more for the memory, and print the medians."""
    cost = Cost.middle([cost_of_call(work) for _ in range(rounds)])
    tracemalloc.start()
    work()
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    verdict = "reached" if cost.wall < MOST_SECONDS and megabytes < MOST_MEGABYTES else "MISSED"
    print(
        f"{name:52}  {cost.wall * 1000:6,.0f} ms  {cost.processor * 1000:6,.0f} ms  {megabytes:5.1f} MB  {verdict}",
        flush=True,
    )


if __name__ == "__main__":
    main()
