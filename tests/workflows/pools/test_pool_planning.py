"""What a pool would cost: the plan says what building it gives, what is done already, and how long the rest takes."""

from statistics import median

import pytest
from adaptive import AdaptiveJudge, adaptive_news
from beginning import beginning
from build import NOW, SLUG, build, labels, member, news, pool, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.pooling.pool_curve import PlanMemory
from annotator.storage import Database, Judgement, Pool, PoolItem, Topic
from annotator.storage.judging import progress
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools.pool_planning import PoolPlan, plan_pool
from annotator.workflows.pools.pools import list_strategies, with_usual
from annotator.workflows.runs.runs import withdraw_run

REQUESTS = [
    PoolRequest("depth", {"depth": 3}),
    PoolRequest("depth", {"depth": 2}, depth_of={"gamma": 4}),
    PoolRequest("rrf", {"budget": 9}),
    PoolRequest("combmnz", {"per_topic": 4}),
    PoolRequest("ntcir", {"budget": 9, "depth": 3}),
    PoolRequest("stratified", {"strata": "1-2:1, 3-9:0.5"}),
]


@pytest.fixture
def letters(session: Session) -> Session:
    add_letters(session)
    return session


@beginning
def add_letters(session: Session) -> None:
    news(session)
    topic_file(session, "10\tten\n9\tnine\n")
    run(session, "alpha", {"10": list("abcdef"), "9": list("xyz")}, team="red")
    run(session, "beta", {"10": list("fedcba")}, team="red")
    run(session, "gamma", {"10": list("klma"), "9": list("zwv")}, team="blue")


def plan(session: Session, request: PoolRequest, hours: float | None = None) -> PoolPlan:
    return plan_pool(session, SLUG, request, hours=hours)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: f"{one.strategy}-{len(one.said)}-{len(one.depth_of)}")
def test_a_plan_stores_nothing_and_says_what_building_gives(letters: Session, request_: PoolRequest) -> None:
    planned = plan(letters, request_)
    assert letters.scalar(select(func.count()).select_from(Pool)) == 0
    built = build(letters, request_)
    assert planned.total.size[planned.asked] == built.added
    assert [(topic.name, topic.size[planned.asked]) for topic in planned.topics] == [
        (topic.number, topic.added) for topic in built.topics
    ]
    again = plan(letters, request_)
    assert (again.total.added[again.asked], again.total.size[again.asked]) == (0, built.added)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: f"{one.strategy}-{len(one.said)}-{len(one.depth_of)}")
def test_what_is_remembered_of_a_plan_is_of_these_very_runs_and_topics(letters: Session, request_: PoolRequest) -> None:
    memory = PlanMemory()

    def remembered() -> PoolPlan:
        return plan_pool(letters, SLUG, request_, memory=memory)

    assert remembered() == remembered() == plan(letters, request_)
    pool(letters, depth=1)
    assert remembered() == plan(letters, request_)
    run(letters, "delta", {"10": list("qra"), "9": list("uz")}, team="blue")
    assert remembered() == plan(letters, request_)
    assert plan_pool(letters, SLUG, request_, seed=7, memory=memory) == plan_pool(letters, SLUG, request_, seed=7)
    topic_file(letters, "8\teight\n")
    assert remembered() == plan(letters, request_)
    withdraw_run(letters, SLUG, "alpha", at=NOW)
    assert remembered() == plan(letters, request_)


def test_a_plan_by_hand(letters: Session) -> None:
    pool(letters, depth=1)
    labels(letters, "jo", "10 0 a 1\n10 0 f 0\n")
    planned = plan(letters, PoolRequest("depth", {"depth": 2}), hours=0.05)
    assert (planned.grows, planned.amounts, planned.asked) == ("depth", (1, 2, 3, 4, 5, 6), 1)
    # Depth 1: a f k and x z. Depth 2: b e l and y w as well. Depth 3: c d m and v. At 4, gamma has only a.
    assert planned.total.size == (5, 10, 14, 14, 14, 14)
    assert planned.total.added == (0, 5, 9, 9, 9, 9)
    assert (planned.total.complete, planned.missing) == (2, 3)
    assert [(topic.name, topic.size[:3]) for topic in planned.topics] == [("9", (2, 4, 5)), ("10", (3, 6, 9))]
    only = {run.name: (run.team, run.only[:3]) for run in planned.runs}
    # At depth 3 gamma alone has k l m, w and v, and alpha x and y; z is in both; a b c are alpha's, f e d beta's.
    assert only == {"alpha": ("red", (2, 4, 5)), "beta": ("red", (1, 2, 3)), "gamma": ("blue", (2, 4, 5))}
    assert [(team.name, team.only[2]) for team in planned.teams] == [("blue", 5), ("red", 8)]
    # Thirty seconds each until more is known: three documents are 90 seconds, eight are 240.
    assert (planned.effort.seconds, planned.effort.is_measured) == (30, False)
    assert [planned.hours_at(at) for at in (0, 1)] == [90 / 3600, 240 / 3600]
    assert planned.affordable == 0
    assert plan(letters, PoolRequest("depth", {"depth": 2}), hours=0).affordable is None
    assert plan(letters, PoolRequest("depth", {"depth": 2})).affordable is None


def test_a_run_without_a_team_is_one_of_its_own(session: Session) -> None:
    news(session)
    topic_file(session)
    for tag in ("one", "two"):
        run(session, tag, {"1": ["a"]})
    run(session, "three", {"1": ["b"]}, team="red")
    planned = plan(session, PoolRequest("depth", {"depth": 1}))
    assert [run.only[0] for run in planned.runs] == [0, 1, 0]
    assert [(team.name, team.only[0]) for team in planned.teams] == [("red", 1)]


def test_of_an_adaptive_strategy_the_number_is_known_beforehand(letters: Session) -> None:
    planned = plan(letters, PoolRequest("mtf", {"budget": 3, "start_depth": 1}))
    assert (planned.adaptive, planned.grows) == (True, "budget")
    assert planned.total.size[planned.asked] == 5 + 3


def test_the_effort_is_measured_when_there_are_fifty_judgements(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    docnos = [f"d{number:02}" for number in range(50)]
    news(session, judgements_wanted=2)
    topic_file(session)
    run(session, "alpha", {"1": docnos})
    pool(session, depth=50)
    labels(session, "jo", "".join(f"1 0 {docno} 1\n" for docno in docnos[:49]))
    session.execute(update(Judgement).values(seconds=Judgement.id))
    request = PoolRequest("depth", {"depth": 50})
    assert plan(session, request).effort.seconds == 30
    labels(session, "jo", f"1 0 {docnos[49]} 1\n", name="more.txt")
    session.execute(update(Judgement).values(seconds=func.coalesce(Judgement.seconds, 1_000)))
    first = session.scalars(select(func.min(Judgement.id))).one()
    effort = plan(session, request).effort
    # Fifty of them: the middle is between the 25th and the 26th.
    assert (effort.seconds, effort.is_measured, effort.judgements_wanted) == (first + 24.5, True, 2)
    planned = plan(session, request)
    # Each has one of the two judgements it wants, so none is done, and each wants one more.
    assert planned.total.complete == 0
    assert planned.hours_at(planned.asked) == pytest.approx(50 * (first + 24.5) / 3600)
    labels(session, "kim", f"1 0 {docnos[0]} 1\n", name="kim.txt")
    planned = plan(session, request)
    assert (planned.total.complete, planned.missing) == (1, 49)
    monkeypatch.setattr(progress, "LATEST", 20)
    monkeypatch.setattr(progress, "LEAST_RECENT", 2)
    newest = session.scalars(select(func.max(Judgement.id))).one()
    latest = [one or 0 for one in session.scalars(select(Judgement.seconds).where(Judgement.id > newest - 20))]
    assert plan(session, request).effort.seconds == median(filter(None, latest)) > first + 24.5


def test_only_runs_in_force_and_accepted_topics_are_planned(letters: Session) -> None:
    withdraw_run(letters, SLUG, "gamma", at=NOW)
    letters.execute(update(Topic).where(Topic.number == "9").values(state="draft"))
    planned = plan(letters, PoolRequest("depth", {"depth": 1}))
    assert ([run.name for run in planned.runs], [topic.name for topic in planned.topics]) == (["alpha", "beta"], ["10"])


@pytest.mark.parametrize("hours", [-1.0, float("inf"), float("nan")])
def test_hours_that_cannot_be_are_refused(letters: Session, hours: float) -> None:
    with pytest.raises(InvalidValueError, match="hours for judging must be 0 or more"):
        plan(letters, PoolRequest("depth", {"depth": 1}), hours=hours)


def test_there_is_no_plan_without_runs_or_topics(session: Session) -> None:
    news(session)
    request = PoolRequest("depth", {"depth": 1})
    with pytest.raises(ConflictError, match="There is no run to pool yet"):
        plan(session, request)
    topic_file(session)
    run(session, "alpha", {"1": ["a"]})
    session.execute(update(Topic).values(state="dropped"))
    with pytest.raises(ConflictError, match="There is no accepted topic to pool for yet"):
        plan(session, request)


def test_a_plan_can_be_read_by_scripts(letters: Session) -> None:
    member(letters, "ola")
    as_json = plan(letters, PoolRequest("rrf", {"per_topic": 2}), hours=3).as_json
    assert (as_json["strategy"], as_json["grows"], as_json["hours"]) == ("rrf", "per_topic", 3)
    assert set(as_json) == {
        *("strategy", "grows", "adaptive", "amounts", "asked", "hours", "effort", "total", "topics", "runs", "teams"),
        *("to_come", "made", "missing", "precision", "until"),
    }


def test_every_strategy_explains_itself_and_what_it_takes() -> None:
    helps = list_strategies()
    assert next(iter(helps)) == "depth"
    for help_ in helps.values():
        assert help_.sentence.endswith(".")
        assert help_.text.startswith(help_.sentence)
    needed = {name: [one.name for one in help_.parameters if one.needed] for name, help_ in helps.items()}
    assert (needed["depth"], needed["mtf"], needed["stratified"]) == (["depth"], ["budget", "per_topic"], [])
    assert [name for name, help_ in helps.items() if help_.adaptive] == [
        *("mtf", "maxmean", "maxmean-ns", "hedge", "lara", "cal"),
    ]
    assert [name for name, help_ in helps.items() if help_.sampled] == ["stratified", "sample"]


def test_a_plan_of_what_is_pooled_counts_each_item_once(letters: Session) -> None:
    pool(letters, depth=3)
    labels(letters, "jo", "10 0 a 1\n")
    labels(letters, "kim", "10 0 a 2\n", name="kim.txt")
    planned = plan(letters, PoolRequest("depth", {"depth": 3}))
    assert planned.total.size[2] == letters.scalars(select(func.count()).select_from(PoolItem)).one()
    assert (planned.total.added[2], planned.total.complete) == (0, 1)


def test_what_is_pooled_in_other_ways_stays_and_is_to_be_judged_too(letters: Session) -> None:
    pool(letters, depth=6)
    labels(letters, "jo", "10 0 a 1\n")
    planned = plan(letters, PoolRequest("depth", {"depth": 1}))
    # 14 documents of the lists; a pool only grows.
    assert (planned.total.size[0], planned.total.added[0]) == (14, 0)
    assert planned.hours_at(0) == 13 * 30 / 3600


def test_the_plan_of_an_adaptive_strategy_knows_what_it_chose_before(database: Database) -> None:
    jo, _ = adaptive_news(database, "mtf", {"budget": 4, "start_depth": 1})
    AdaptiveJudge(database, jo).work()
    with database.reading() as session:
        planned = plan(session, PoolRequest("mtf", {"budget": 6, "start_depth": 1}))
        assert (planned.made, planned.to_come[planned.asked], planned.total.size[planned.asked]) == (4, 2, 3 + 4 + 2)
        other = plan(session, PoolRequest("hedge", {"budget": 6, "start_depth": 1}))
        assert (other.made, other.to_come[other.asked]) == (0, 6)


@pytest.mark.parametrize(
    ("name", "said", "told"),
    [
        ("depth", {}, {"depth": 10}),
        ("depth", {"depth": 3}, {"depth": 3}),
        ("rrf", {"depth": 3}, {"depth": 3, "per_topic": 100}),
        ("mtf", {"budget": 3}, {"budget": 3}),
        ("stratified", {}, {}),
        ("none", {}, {}),
    ],
)
def test_a_plan_has_usual_values_where_nothing_is_said(
    name: str, said: dict[str, str | int], told: dict[str, str | int]
) -> None:
    assert with_usual(name, said) == told
