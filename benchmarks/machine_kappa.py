"""Whether the labels planned for a machine's kappa suffice, by drawing them again and again from a judged collection.

    python -m benchmarks.machine_kappa --qrels FILE --machine FILE... [--draws N]

Printed for each machine, weighting and margin: the labels planned, the share of draws whose kappa is within the margin,
the share whose 95 % interval contains kappa of all documents, and the standard deviations of draws by grade of the
machine and of simple random draws of as many documents.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.kappa import Weighting, kappa_of_confusion
from annotator.evaluation.agreement.labels_needed import labels_needed, stratified_kappa

MARGINS = (0.02, 0.05, 0.1)
SEED = 1


def main() -> None:
    """Draw samples of the planned sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qrels", type=Path, required=True)
    parser.add_argument("--machine", type=Path, nargs="+", required=True)
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    for machine in given.machine:
        confusion = confusion_of(given.qrels, machine)
        for weighting in (Weighting.NONE, Weighting.QUADRATIC):
            for margin in MARGINS:
                print(machine.name, weighting, *draw(confusion, weighting, margin, given.draws))


def confusion_of(qrels: Path, machine: Path) -> NDArray[np.int64]:
    """The machine's grades (rows) against those of people."""
    people, labels = grades(qrels), grades(machine)
    scale = sorted({*people.values(), *labels.values()})
    confusion = np.zeros((len(scale), len(scale)), np.int64)
    for pair in people.keys() & labels.keys():
        confusion[scale.index(labels[pair]), scale.index(people[pair])] += 1
    return confusion


def grades(path: Path) -> dict[tuple[str, str], int]:
    """(topic, docno) → grade, of a file of qrels."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {(topic, docno): int(grade) for topic, _, docno, grade in rows}


def draw(confusion: NDArray[np.int64], weighting: Weighting, margin: float, draws: int) -> Sequence[object]:
    """Draw by grade, and at random, and return the figures of a line."""
    random = np.random.default_rng(SEED)
    weights = weighting.of(len(confusion))
    counts = confusion.sum(axis=1).tolist()
    [plan] = labels_needed(counts, confusion, weights.disagreement, [margin])
    truth = kappa_of_confusion(confusion, weights).value or 0.0
    by_grade, covered, simple = [], [], []
    for _ in range(draws):
        rows = zip(confusion, plan.by_grade, strict=True)
        sample = np.array([random.multivariate_hypergeometric(row, size) for row, size in rows])
        found = stratified_kappa(counts, sample, weights.disagreement)
        if found is not None:
            by_grade.append(found.value)
            covered.append(abs(found.value - truth) <= found.half_width)
        other = random.multivariate_hypergeometric(confusion.ravel(), plan.total).reshape(confusion.shape)
        simple.append(kappa_of_confusion(other, weights).value or 0.0)
    within = np.mean(np.abs(np.array(by_grade) - truth) <= margin)
    return (
        f"kappa {truth:.4f} ± {margin}: {plan.total} labels {plan.by_grade},",
        f"within {within:.3f}, intervals {np.mean(covered):.3f},",
        f"sd {np.std(by_grade):.4f}, simple random {np.std(simple):.4f}",
    )


if __name__ == "__main__":
    main()
