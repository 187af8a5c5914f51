"""How a leaderboard comes from what is remembered: what changed is graded and scored anew, then all is put together."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from annotator.errors import Sentence
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.leaderboard.leaderboard_making import Asked, make_leaderboard, score_board
from annotator.evaluation.leaderboard.live_scores import Load, Make, OneCollection
from annotator.evaluation.leaderboard.round_scope import RoundScope, no_run, nothing_judged
from annotator.evaluation.leaderboard.sample_notices import SampleFacts


@dataclass(frozen=True, eq=False)
class Source:
    """Grades, topic by topic, under a key that says how they come about and marks that change when they may."""

    name: str
    policy: str | None
    key: Hashable
    marks: Mapping[int, Hashable]
    make: Make
    fingerprint: str | None = None  # of the file that they were kept as; else it is made of the grades
    said: tuple[Sentence, ...] = ()  # what whoever asked should know
    sample: SampleFacts | None = None  # that estimates are computed from beside the grades


def within(scope: RoundScope | None, source: Source) -> Source:
    """What is left of these grades to score a round against."""
    if scope is None:
        return source
    name = f"{source.name}, {scope.name}"
    return replace(
        source,
        name=name,
        make=lambda stale, earlier: scope.grades_left(source.make(stale, earlier)),
        fingerprint=None if scope.changes_grades else source.fingerprint,
    )


def recalled(
    kept: OneCollection,
    asked: Asked,
    source: Source,
    scope: RoundScope | None,
    load: Load,
) -> Leaderboard:
    """Make it, but for what was made before; who makes rows, intervals and letters keeps nobody waiting."""
    key = (source.key, asked.grading)
    with kept.view.lock:
        graded = kept.view.grading(source.key).refresh(source.marks, source.make)
    if not any(topic.judged for topic in graded.values()):
        raise nothing_judged(scope)
    if not asked.runs:
        raise no_run(scope)

    def make() -> Leaderboard:
        with kept.lock:
            kept.complete_lists([topic for topic in graded if graded[topic].documents.size], load)
            values = score_board(asked, graded, kept.values_of(key, source.marks), kept.lists)
        board = make_leaderboard(asked, graded, values)
        if scope is None:
            return board
        return replace(board, notices=(scope.sentence, *board.notices), of_rounds=(scope.sentence,))

    return kept.result((key, asked.what), tuple(source.marks.items()), make)


def said_of_version(
    number: int, policy: str, *, asked_policy: str | None, asked_judge: str | None
) -> tuple[Sentence, ...]:
    """That a judge or another policy changes nothing beside a version."""
    beside = asked_judge if asked_judge is not None else asked_policy
    if beside is None or (asked_judge is None and asked_policy == policy):
        return ()
    return (
        Sentence(
            "Version %(number)d of the qrels has its own grades, settled by %(policy)s: “%(beside)s”, which was asked "
            "for beside it, changes nothing.",
            {"number": number, "policy": policy, "beside": beside},
        ),
    )
