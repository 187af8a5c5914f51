"""One topic, looked at from all sides: its runs ranked, how hard it is, and who found its relevant documents."""

from dataclasses import dataclass

from annotator.evaluation.formats.natural_order import natural_order
from annotator.evaluation.inspection.one_topic import (
    Difficulty,
    FoundDocuments,
    RankedRun,
    difficulties,
    found_documents,
    rank_runs,
)
from annotator.evaluation.inspection.scored_runs import ScoredRuns


@dataclass(frozen=True)
class RunOnTopic:
    """A run's value and place for a topic, and how much of its top ten is judged."""

    ranked: RankedRun
    team: str
    judged_share: float


@dataclass(frozen=True)
class TopicLook:
    """All that is to be said of one topic."""

    number: str
    difficulty: Difficulty
    runs: tuple[RunOnTopic, ...]  # best first
    found: FoundDocuments
    judged: int  # documents with a grade


def look_at_topics(scored: ScoredRuns) -> tuple[Difficulty, ...]:
    """Say how hard each topic is, in natural order."""
    every = difficulties(scored.numbers, scored.values, scored.better)
    return tuple(sorted(every, key=lambda one: natural_order(one.topic)))


def look_at_topic(scored: ScoredRuns, number: str, *, depth: int | None = None) -> TopicLook:
    """Look at a topic; documents count as found within a depth of the runs, or anywhere.

    Raises `NotFoundError` when it is not scored.
    """
    topic = scored.topic(number)
    places = {tag: place for place, tag in enumerate(scored.tags)}
    grades = scored.qrels[scored.topics[topic]]
    lists = [scored.ranking(run, topic) for run in range(len(scored.tags))]
    return TopicLook(
        number=number,
        difficulty=difficulties(scored.numbers, scored.values, scored.better)[topic],
        runs=tuple(
            RunOnTopic(one, scored.teams[places[one.tag]], float(scored.judged[places[one.tag], topic]))
            for one in rank_runs(scored.tags, scored.values[:, topic], scored.better)
        ),
        found=found_documents(lists, scored.tags, scored.teams, grades, scored.state.relevant_from, depth=depth),
        judged=len(grades),
    )
