"""The leaderboard from a process's cache: always what one without a cache shows, after any change whatever."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from beginning import beginning
from build import NOW, SLUG, labels, member, pooled_news, run
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from thorough import examples

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard, View
from annotator.evaluation.leaderboard.leaderboard_making import make_leaderboard
from annotator.evaluation.qrels import settling
from annotator.evaluation.qrels.scale import parse_scale
from annotator.evaluation.qrels.settling import Rules, Settlement
from annotator.storage import Collection, Database, Topic, User, UserKind
from annotator.storage.judging.leases import Decision
from annotator.storage.qrels.current_grades import OpinionRow
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.judging import judging, recording
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.leaderboard import leaderboard, score_cache
from annotator.workflows.leaderboard.grade_sources import LIVE, GradesFrom
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.people import erasure
from annotator.workflows.runs import runs
from annotator.workflows.topics import topic_editing

MEASURES = ("nDCG@10", "AP", "P@2", "RR", "Bpref", "ERR@10", "NumRelRet", "Judged@10")
KINDS = (
    LIVE,
    GradesFrom(policy="highest"),
    GradesFrom(judge="jo"),
    GradesFrom(judge="kim"),
    GradesFrom(compat="9"),
)
CHANGES = examples(1000, otherwise=25)


def board(session: Session, cache: ScoreCache | None = None, grades: GradesFrom = LIVE) -> Leaderboard:
    return leaderboard.build_leaderboard(session, SLUG, MEASURES, grades=grades, cache=cache)


@beginning
def two_judges(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 1\n")
    labels(session, "kim", "1 0 a 1\n1 0 b 0\n1 0 d 2\n2 0 e 2\n", name="kim.txt")


def another(database: Database) -> Database:
    """The same database as another process has it."""
    return Database(database.engine.url.render_as_string(hide_password=False))


def test_no_load_is_ever_stale_while_two_processes_judge_and_show(database: Database) -> None:
    with database.transaction() as session:
        two_judges(session)
    processes = [(database, ScoreCache()), (another(database), ScoreCache())]
    chance = random.Random(CHANGES)  # noqa: S311 - it chooses what is judged
    shown = set()
    for change in range(CHANGES):
        judging, _ = processes[chance.randrange(2)]
        topic, docno = chance.choice([("1", docno) for docno in "abcd"] + [("2", "a"), ("2", "e")])
        with judging.transaction() as session:
            said = f"{topic} 0 {docno} {chance.randrange(3)}\n"
            labels(session, chance.choice(["jo", "kim"]), said, name=f"{change}.txt")
        showing, cache = processes[chance.randrange(2)]
        with showing.reading() as session:
            seen = board(session, cache)
            assert seen == board(session)
        shown.add(seen.fingerprint)
    assert len(shown) > 5
    processes[1][0].close()


CHANGES_OF_ALL_ELSE: dict[str, Callable[[Session], object]] = {
    "policy": lambda session: collection.change_collection(session, SLUG, CollectionChange(consensus_policy="highest")),
    "relevant from": lambda session: collection.change_collection(session, SLUG, CollectionChange(relevant_from=2)),
    "scale": lambda session: collection.change_collection(
        session, SLUG, CollectionChange(scale=parse_scale("0=No,1=Yes,2=Very,3=Perfectly"))
    ),
    "a topic dropped": lambda session: topic_editing.drop_topics(session, SLUG, ["2"], reason="It says nothing."),
    "a new run": lambda session: run(session, "gamma", {"1": ["d", "a"], "2": ["e", "a"]}, team="red"),
    "a run withdrawn": lambda session: runs.withdraw_run(session, SLUG, "alpha", at=NOW),
    "a machine": lambda session: session.execute(update(User).where(User.name == "jo").values(kind=UserKind.MACHINE)),
    "disputes left out": lambda session: session.execute(update(Collection).values(leaves_out_disputed=True)),
    "a topic's owner": lambda session: session.execute(
        update(Topic).where(Topic.number == "1").values(owner_id=user_id(session, "jo"))
    ),
}


def user_id(session: Session, name: str) -> int:
    return session.scalars(select(User.id).where(User.name == name)).one()


@pytest.mark.parametrize("change", CHANGES_OF_ALL_ELSE)
def test_what_else_the_grades_and_scores_depend_on_is_followed_too(database: Database, change: str) -> None:
    cache = ScoreCache()
    by_owner = GradesFrom(policy="owner")
    with database.transaction() as session:
        two_judges(session)
        session.execute(update(Topic).values(owner_id=user_id(session, "kim")))
    with database.reading() as session:
        before = board(session, cache), board(session, cache, by_owner)
    with database.transaction() as session:
        CHANGES_OF_ALL_ELSE[change](session)
    with database.reading() as session:
        after = board(session, cache), board(session, cache, by_owner)
        assert after == (board(session), board(session, grades=by_owner))
    assert after != before


def test_a_machine_that_comes_to_count_is_followed(database: Database) -> None:
    cache = ScoreCache()
    with database.transaction() as session:
        two_judges(session)
        session.execute(update(User).where(User.name == "kim").values(kind=UserKind.MACHINE))
    with database.reading() as session:
        before = board(session, cache)
    with database.transaction() as session:
        session.execute(update(Collection).values(counts_machines=True))
    with database.reading() as session:
        after = board(session, cache)
        assert after == board(session)
    assert (before.grades, after.grades) == (4, 6)


def test_views_are_evicted_by_the_bytes_of_their_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ScoreCache()
    for number in (1, 2, 3):
        kept = cache.of(number, None, "state", [7])
        kept.add_lists([7], {1: {}}, {1: [np.zeros(100, np.int32)]})
    assert [view.list_bytes for view in cache.views.values()] == [400, 400, 400]
    monkeypatch.setattr(score_cache, "MOST_BYTES", 900)
    cache.of(2, None, "state", [7])
    assert [key[0] for key in cache.views] == [3, 2]
    monkeypatch.setattr(score_cache, "MOST_BYTES", 0)
    assert cache.of(2, None, "state", [7]).lists
    assert [key[0] for key in cache.views] == [2]


def test_after_a_judgement_only_its_topic_is_settled_and_scored_anew(database: Database) -> None:
    cache = ScoreCache()
    with database.transaction() as session:
        two_judges(session)
    with database.reading() as session:
        first = board(session, cache)
        assert board(session, cache) is first
    [view] = cache.views.values()
    [kept] = view.run_sets.values()
    [grading] = view.gradings.values()
    before = {topic: graded for topic, (_, graded) in grading.topics.items()}
    lists = dict(kept.lists)
    with database.transaction() as session:
        labels(session, "jo", "2 0 e 0\n", name="more.txt")
    with database.reading() as session:
        assert board(session, cache) != first
    after = {topic: graded for topic, (_, graded) in grading.topics.items()}
    assert [before[topic] is after[topic] for topic in sorted(before)] == [True, False]
    assert all(kept.lists[topic] is lists[topic] for topic in lists)


def say(session: Session, who: int, grade: int) -> None:
    """Judge the next document of topic 1."""
    task = judging.next_task(session, SLUG, "1", who, now=NOW)
    assert task is not None
    act = Act(f"{who}-{task.docno}", task.assignment_id, Decision(grade))
    recording.record_acts(session, SLUG, who, [act], received_at=NOW)


def test_after_a_judgement_only_its_document_is_settled_anew(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, settled = ScoreCache(), list[int]()
    settle = settling.settle_items

    def watched(said: Sequence[OpinionRow], rules: Rules) -> Settlement:
        settled.append(len(said))
        return settle(said, rules)

    monkeypatch.setattr(settling, "settle_items", watched)
    with sqlite_database.transaction() as session:
        two_judges(session)
        lee = member(session, "lee")
    with sqlite_database.reading() as session:
        board(session, cache)
    assert settled == []  # whole topics are settled by columns
    with sqlite_database.transaction() as session:
        say(session, lee, 2)
    with sqlite_database.reading() as session:
        seen = board(session, cache)
        assert 0 < sum(settled) <= 3
        assert seen == board(session)


def test_another_set_of_runs_has_the_grades_and_lists_that_are_there(database: Database) -> None:
    cache = ScoreCache()
    with database.transaction() as session:
        two_judges(session)
    with database.reading() as session:
        board(session, cache)
    [view] = cache.views.values()
    [before] = view.run_sets.values()
    [grading] = view.gradings.values()
    graded = [one for _, one in grading.topics.values()]
    with database.transaction() as session:
        run(session, "gamma", {"1": ["d", "a"], "2": ["e", "a"]})
    with database.reading() as session:
        assert board(session, cache) == board(session)
    after = next(one for one in view.run_sets.values() if one is not before)
    assert [one is other for one, (_, other) in zip(graded, grading.topics.values(), strict=True)] == [True, True]
    assert all(after.lists[topic][0] is before.lists[topic][0] for topic in before.lists)


def test_one_cache_keeps_policies_judges_and_views_apart(database: Database) -> None:
    cache = ScoreCache()
    with database.transaction() as session:
        two_judges(session)
        member(session, "ola")
    with database.reading() as session:
        for _ in range(2):
            for grades in KINDS:
                assert board(session, cache, grades) == board(session, grades=grades)
        by_ap = View(sort="AP", baseline="alpha", letters=True)
        seen = leaderboard.build_leaderboard(session, SLUG, MEASURES, view=by_ap, cache=cache)
        assert seen.sorted_by == "AP"
        assert board(session, cache).sorted_by == "nDCG@10"


def test_making_intervals_keeps_no_other_request_from_scoring(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ScoreCache()
    held: list[bool] = []
    make = make_leaderboard

    def watched(*given: Any) -> Leaderboard:  # noqa: ANN401 - passed on as it came
        held.extend(view.lock.locked() for view in cache.views.values())
        held.extend(kept.lock.locked() for view in cache.views.values() for kept in view.run_sets.values())
        return make(*given)

    monkeypatch.setattr(leaderboard, "make_leaderboard", watched)
    with database.transaction() as session:
        two_judges(session)
    with database.reading() as session:
        board(session, cache)
    assert held == [False, False]


def test_views_and_ways_to_grade_share_one_bound_of_what_is_remembered(database: Database) -> None:
    cache = ScoreCache()
    with database.transaction() as session:
        two_judges(session)
    with database.reading() as session:
        for seed in range(15):
            for grades in (LIVE, GradesFrom(judge="jo")):
                leaderboard.build_leaderboard(session, SLUG, grades=grades, view=View(seed=seed), cache=cache)
    [view] = cache.views.values()
    [kept] = view.run_sets.values()
    assert len(kept.boards) == 24


def test_of_too_many_measures_none_is_scored(database: Database) -> None:
    with database.transaction() as session:
        two_judges(session)
    with database.reading() as session:
        assert (
            len(leaderboard.build_leaderboard(session, SLUG, [f"P@{depth}" for depth in range(1, 25)]).measures) == 24
        )
        with pytest.raises(InvalidValueError, match="At most 24 measures are shown at once, not 25"):
            leaderboard.build_leaderboard(session, SLUG, [f"P@{depth}" for depth in range(1, 26)])


def test_who_takes_the_name_of_an_erased_judge_does_not_get_that_judges_leaderboard(session: Session) -> None:
    two_judges(session)
    cache = ScoreCache()
    assert board(session, cache, GradesFrom(judge="kim")).grades == 4
    erased = erasure.forget_user(session, "kim")
    assert board(session, cache, GradesFrom(judge=erased)).grades == 4
    member(session, "kim")
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        board(session, cache, GradesFrom(judge="kim"))
