"""Scores of the runs of one task on its topics: values, caches, and every report beside the leaderboard."""

import numpy as np
import pytest
from beginning import beginning
from build import NOW, SLUG, build, document_file, labels, news, topic_file
from sqlalchemy.orm import Session
from tasks import add_topics, drop_topics, move_runs, run, task

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_ROUND, EVERY_TASK
from annotator.files import InputFile
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_state import report_state
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.collections import rounds
from annotator.workflows.leaderboard import inspecting, leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.inspecting import GradesChosen
from annotator.workflows.leaderboard.measure_correlation import correlate
from annotator.workflows.leaderboard.reusability_report import QualityRequest, ReusabilityPart, quality_report
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.leaderboard.significance_report import SignificanceRequest, significance_report
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs.scoring_scope import scope_choices

TOPICS = ("1", "2", "3", "4")
DOCNOS = [f"d{number:02}" for number in range(20)]
LIMIT = 1 << 20


@pytest.fixture
def two_tasks(session: Session) -> Session:
    """Task `long` has topics 1 to 3, task `short` 3 and 4, with three runs each."""
    add_two_tasks(session)
    return session


@beginning
def add_two_tasks(session: Session) -> None:
    news(session)
    topic_file(session, "".join(f"{number}\ttopic\n" for number in TOPICS))
    document_file(session, DOCNOS)
    chance = np.random.default_rng(3)
    task(session, "long", ["1", "2", "3"])
    task(session, "short", ["3", "4"])
    for key, topics in (("long", TOPICS[:3]), ("short", TOPICS[2:])):
        for place in range(3):
            run(session, f"{key}-{place}", {topic: chance.permutation(DOCNOS)[:12].tolist() for topic in topics})
            move_runs(session, key, [f"{key}-{place}"])
    build(session, PoolRequest("depth", {"depth": 10}), seed=1)
    made = "".join(f"{topic} 0 {docno} {chance.integers(3)}\n" for topic in TOPICS for docno in DOCNOS[::2])
    labels(session, "jo", made, add_to_pool=True)
    exported = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, exported, made_by_id=None, made_at=NOW)


def scored(session: Session, grades: GradesFrom, cache: ScoreCache | None = None) -> Leaderboard:
    return leaderboard.build_leaderboard(session, SLUG, ["AP", "P@5"], grades=grades, cache=cache)


def by_topic(board: Leaderboard) -> dict[tuple[str, str], tuple[float, ...]]:
    return {(row.tag, topic): row.by_topic[topic] for row in board.rows for topic in board.topics}


def test_only_the_runs_of_a_task_are_scored_on_its_topics(two_tasks: Session) -> None:
    whole, of_long, of_short = (scored(two_tasks, GradesFrom(task=key)) for key in (None, "long", "short"))
    assert {row.tag for row in of_long.rows} == {"long-0", "long-1", "long-2"}
    assert (of_long.topics, of_short.topics, whole.topics) == (TOPICS[:3], TOPICS[2:], TOPICS)
    # On each topic a run has the value that it has without a choice; only the mean is of other topics.
    for board in (of_long, of_short):
        assert by_topic(board).items() <= by_topic(whole).items()
    assert sum(one.grades for one in (of_long, of_short)) == whole.grades + sum(
        1 for _ in DOCNOS[::2]
    )  # those of topic 3, which both tasks have
    assert (of_long.source, whole.source) == ("live, task long", "live, every task")
    assert len({board.fingerprint for board in (whole, of_long, of_short)}) == 3
    assert str(of_long.of_scope[0]) == "Only the runs of the task “long” are scored, on its topics."
    assert whole.of_scope == (EVERY_TASK,)
    assert EVERY_TASK not in of_long.notices


@pytest.mark.parametrize("version", [None, 1])
@pytest.mark.parametrize("key", ["long", "short"])
def test_every_report_of_a_task_has_the_values_of_its_leaderboard(
    two_tasks: Session, key: str, version: int | None
) -> None:
    board = scored(two_tasks, GradesFrom(version=version, task=key))
    expected = {row.tag: row.values[0] for row in board.rows}
    name = "live" if version is None else str(version)
    tested = significance_report(two_tasks, SLUG, SignificanceRequest("AP", name, permutations=0, task=key))
    means = {tag: mean.mean.value for tag, mean in zip(tested.tags, tested.means, strict=True)}
    assert means == pytest.approx(expected)
    assert tested.state.source == board.source
    chosen = GradesChosen(name, task=key)
    looked = inspecting.inspect_run(two_tasks, SLUG, f"{key}-1", measure="AP", grades=chosen)
    assert looked.look.mean == pytest.approx(expected[f"{key}-1"])
    state = looked.choices.state
    assert (state.named, state.fingerprint) == (board.source, board.fingerprint)
    assert (state.topics, state.topics_left_out) == (len(board.topics), 0)
    assert looked.choices.notices[0] == board.of_scope[0]
    pair = inspecting.inspect_pair(two_tasks, SLUG, f"{key}-0", f"{key}-2", measures=("AP",), grades=chosen)
    [both] = pair.look.by_measure
    assert (both.first, both.second) == pytest.approx((expected[f"{key}-0"], expected[f"{key}-2"]))
    assert inspecting.inspect_topics(two_tasks, SLUG, grades=chosen).choices.topics == board.topics


def test_a_task_is_scored_by_a_file_a_judge_and_a_policy_too(two_tasks: Session) -> None:
    lines = "".join(f"{topic} 0 {docno} 1\n" for topic in TOPICS for docno in DOCNOS[:5])
    by_file = scored(
        two_tasks, GradesFrom(qrels_file=InputFile("own.txt", lines.encode()), unpacked_limit=LIMIT, task="short")
    )
    assert (by_file.source, by_file.topics, by_file.grades) == ("own.txt, task short", ("3", "4"), 10)
    labels(two_tasks, "kim", "1 0 d00 0\n4 0 d00 2\n", name="kim.txt")
    of_kim = scored(two_tasks, GradesFrom(judge="kim", task="short"))
    assert (of_kim.source, of_kim.topics, of_kim.grades) == ("kim, task short", ("4",), 1)
    assert scored(two_tasks, GradesFrom(policy="highest", task="short")).topics == ("3", "4")


def test_the_quality_of_a_task_counts_its_topics_and_runs(two_tasks: Session) -> None:
    every = quality_report(two_tasks, SLUG, QualityRequest("AP", ablates=False))
    of_short = quality_report(two_tasks, SLUG, QualityRequest("AP", task="short"))
    assert [row[0] for row in of_short.table(ReusabilityPart.TOPICS)[1]] == ["3", "4"]
    assert (of_short.runs, every.runs) == (3, 6)
    assert of_short.state.grades == scored(two_tasks, GradesFrom(task="short")).grades
    assert of_short.file(ReusabilityPart.TOPICS)[1][0][-4] == "live, task short"


def test_tasks_never_get_values_of_each_other_from_the_cache(two_tasks: Session) -> None:
    session, cache = two_tasks, ScoreCache()

    def same_as_without_cache() -> list[Leaderboard]:
        boards = []
        for key in ("long", "short", None, "short", "long"):
            for version in (None, 1):
                grades = GradesFrom(task=key, version=version)
                board = scored(session, grades, cache)
                fresh = scored(session, grades)
                assert by_topic(board) == by_topic(fresh)
                assert [row.values for row in board.rows] == [row.values for row in fresh.rows]
                assert (board.source, board.fingerprint, board.notices) == (
                    fresh.source,
                    fresh.fingerprint,
                    fresh.notices,
                )
                boards.append(board)
        return boards

    before = same_as_without_cache()
    assert len({board.fingerprint for board in before}) == 3  # the version has the live grades
    add_topics(session, "short", ["1"])
    changed = same_as_without_cache()
    assert (before[2].topics, changed[2].topics) == (("3", "4"), ("1", "3", "4"))
    drop_topics(session, "short", ["1", "3"])
    assert same_as_without_cache()[2].topics == ("4",)
    move_runs(session, "short", ["long-0"])
    moved = same_as_without_cache()
    assert {row.tag for row in moved[0].rows} == {"long-1", "long-2"}
    assert "long-0" in {row.tag for row in moved[2].rows}
    labels(session, "jo", "4 0 d00 0\n4 0 d02 2\n", name="again.txt")
    same_as_without_cache()


def test_reports_that_are_kept_change_with_tasks(two_tasks: Session) -> None:
    collection = find_collection(two_tasks, SLUG)
    states = [report_state(two_tasks, collection)]
    add_topics(two_tasks, "short", ["1"])
    states.append(report_state(two_tasks, collection))
    move_runs(two_tasks, "short", ["long-0"])
    states.append(report_state(two_tasks, collection))
    task(two_tasks, "third")
    states.append(report_state(two_tasks, collection))
    assert len(set(states)) == 4


def test_a_task_with_every_topic_has_later_topics_too(two_tasks: Session) -> None:
    task(two_tasks, "all", runs=["long-0", "short-0"])
    assert scored(two_tasks, GradesFrom(task="all")).topics == TOPICS
    whole = scored(two_tasks, GradesFrom())
    assert scored(two_tasks, GradesFrom(task="all")).fingerprint == whole.fingerprint
    topic_file(two_tasks, "".join(f"{number}\ttopic\n" for number in (*TOPICS, "5")))
    labels(two_tasks, "jo", "5 0 d00 1\n", add_to_pool=True, name="five.txt")
    assert scored(two_tasks, GradesFrom(task="all")).topics == (*TOPICS, "5")
    assert scored(two_tasks, GradesFrom(task="long")).topics == TOPICS[:3]


def test_a_task_in_a_round(two_tasks: Session) -> None:
    exported = qrels.export_qrels(two_tasks, SLUG, made_at=NOW)
    version = qrels_versions.keep_or_reuse(two_tasks, SLUG, exported, made_by_id=None, made_at=NOW)
    rounds.close_round(two_tasks, SLUG, version=version, at=NOW)
    rounds.open_round(two_tasks, SLUG, at=NOW)
    run(two_tasks, "later", {"3": ["d01", "d00"], "4": ["d03", "d02", "d05"]})
    move_runs(two_tasks, "short", ["later"])
    both = GradesFrom(round=2, residual=True, task="short")
    with pytest.raises(ConflictError, match="No topic of the task “short” has a judgement that was made after"):
        scored(two_tasks, both)
    labels(two_tasks, "kim", "1 0 d01 1\n4 0 d03 0\n4 0 d05 2\n", add_to_pool=True, name="kim.txt")
    board = scored(two_tasks, both)
    # Left of topic 4 are d03, which is not relevant, and d05, which is.
    assert [(row.tag, row.values[0]) for row in board.rows] == [("later", 0.5)]
    assert (board.source, board.topics, board.grades) == ("live, task short, round 2, residual", ("4",), 2)
    looked = inspecting.inspect_run(
        two_tasks, SLUG, "later", measure="AP", grades=GradesChosen(round=2, residual=True, task="short")
    )
    assert (looked.look.mean, looked.choices.state.named) == (0.5, board.source)
    with pytest.raises(ConflictError, match="There is no run of the task “long” to score in round 2"):
        scored(two_tasks, GradesFrom(round=2, task="long"))
    with pytest.raises(NotFoundError, match="The run short-0 is not one of the task “short” in round 2"):
        inspecting.inspect_run(two_tasks, SLUG, "short-0", grades=GradesChosen(round=2, task="short"))
    choices = scope_choices(two_tasks, SLUG)
    assert choices.of_every_run() == (EVERY_TASK, EVERY_ROUND)
    assert choices.of_every_run(2) == (EVERY_TASK,)
    assert choices.of_every_run(None, "short") == (EVERY_ROUND,)
    assert scored(two_tasks, GradesFrom()).source == "live, every task, every round, whole"
    assert scored(two_tasks, GradesFrom(round=2)).source == "live, round 2, whole, every task"


def test_what_cannot_be_scored_of_a_task_is_refused_with_its_name(two_tasks: Session) -> None:
    with pytest.raises(NotFoundError, match=r"There is no task “none”\. There are: long, short\."):
        scored(two_tasks, GradesFrom(task="none"))
    with pytest.raises(NotFoundError, match="The run short-0 is not one of the task “long”"):
        inspecting.inspect_run(two_tasks, SLUG, "short-0", grades=GradesChosen(task="long"))
    task(two_tasks, "empty", ["1"])
    with pytest.raises(ConflictError, match="There is no run to score in the task “empty”"):
        scored(two_tasks, GradesFrom(task="empty"))
    topic_file(two_tasks, "".join(f"{number}\ttopic\n" for number in (*TOPICS, "5")))
    task(two_tasks, "new", ["5"])
    with pytest.raises(ConflictError, match="No topic of the task “new” has a judgement yet"):
        scored(two_tasks, GradesFrom(task="new"))
    with pytest.raises(ConflictError, match="No topic of the task “new” has a judgement yet"):
        significance_report(two_tasks, SLUG, SignificanceRequest(task="new"))


def test_a_collection_without_tasks_says_nothing_of_them(session: Session) -> None:
    news(session)
    topic_file(session)
    document_file(session, ["a", "b"])
    run(session, "alpha", {"1": ["a", "b"]})
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    board = scored(session, GradesFrom())
    assert (board.source, board.of_scope) == ("live", ())
    assert scope_choices(session, SLUG).of_every_run() == ()
    assert correlate(session, SLUG).notices == ()
    with pytest.raises(NotFoundError, match="There is no task “long”: this collection has no tasks"):
        scored(session, GradesFrom(task="long"))
