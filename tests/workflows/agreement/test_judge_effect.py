"""Whether it matters who judged: every run under each judge, each policy and mixtures, from what is stored."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from build import SLUG, labels, member, news, pooled_news, run, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Collection, Topic, TopicState, User, UserKind
from annotator.workflows.agreement.judge_effect import EffectRequest, judge_effect

P1 = EffectRequest("P@1", draws=50)


def judged_by_two(session: Session) -> None:
    """Run alpha begins with a and a, beta with d and e; jo finds a of topic 1 and e relevant, kim d and e."""
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n1 0 d 0\n2 0 a 0\n2 0 e 1\n")
    labels(session, "kim", "1 0 a 0\n1 0 d 1\n2 0 a 0\n2 0 e 1\n", name="kim.txt")


def test_runs_are_ranked_by_each_judge_alone_and_by_mixtures(session: Session) -> None:
    judged_by_two(session)
    effect = judge_effect(session, SLUG, P1)
    assert (effect.measure, effect.tags, effect.judges, effect.topics) == (
        "P@1",
        ("alpha", "beta"),
        ("jo", "kim"),
        ("1", "2"),
    )
    [pair] = effect.pairs
    assert (pair.first, pair.second, pair.comparison.documents) == ("jo", "kim", 4)
    # By jo both have one of their two first documents right, by kim beta has both.
    assert [list(pair.comparison.first), list(pair.comparison.second)] == [[0.5, 0.5], [0, 1]]
    assert effect.mixture is not None
    ranges = {one.tag: (one.low, one.high) for one in effect.mixture.runs}
    assert ranges == {"alpha": (0, 0.5), "beta": (0.5, 1)}


def test_other_policies_are_compared_with_the_collections_own(session: Session) -> None:
    judged_by_two(session)
    effect = judge_effect(session, SLUG, P1)
    assert effect.own_policy == "majority"
    by_name = {one.policy: one for one in effect.policies}
    # Nobody owns a topic and nobody adjudicates, so that these would be missing or the same.
    assert by_name.keys() == {"majority-first", "median", "lowest", "highest", "any-relevant", "all-relevant"}
    assert by_name["lowest"].differing == 0
    assert by_name["highest"].differing == 2
    # By the lowest grade alpha has nothing and beta e; by the highest alpha has a, and beta d and e.
    assert list(by_name["highest"].comparison.first) == [0, 0.5]
    assert list(by_name["highest"].comparison.second) == [0.5, 1]


def test_a_policy_that_asks_for_the_owner_leaves_out_what_others_said(session: Session) -> None:
    judged_by_two(session)
    jo = session.scalars(select(User.id).where(User.name == "jo")).one()
    session.execute(update(Topic).where(Topic.number == "1").values(owner_id=jo))
    by_name = {one.policy: one for one in judge_effect(session, SLUG, P1).policies}
    # Topic 1 is jo's: a 1 and d 0 where the lower of two was 0; topic 2 is nobody's, and its two documents are out.
    assert by_name["owner"].differing == 3
    assert list(by_name["owner"].comparison.second) == [1, 0]


def test_where_disputes_stay_out_each_policy_shows_what_settling_them_would_do(session: Session) -> None:
    judged_by_two(session)
    session.execute(update(Collection).values(leaves_out_disputed=True))
    by_name = {one.policy: one for one in judge_effect(session, SLUG, P1).policies}
    # Left in the qrels: a and e of topic 2. The majority would add a and d of topic 1, both as 0.
    assert by_name["majority"].differing == 2
    assert list(by_name["majority"].comparison.first) == [0, 1]
    assert list(by_name["majority"].comparison.second) == [0, 0.5]


def test_topics_that_are_asked_for_count_alone(session: Session) -> None:
    judged_by_two(session)
    effect = judge_effect(session, SLUG, EffectRequest("P@1", topics=["2"], draws=5))
    assert effect.topics == ("2",)
    assert list(effect.pairs[0].comparison.first) == [0, 1]
    with pytest.raises(NotFoundError, match="no topic “7”"):
        judge_effect(session, SLUG, EffectRequest("P@1", topics=["7"]))


def test_machines_and_dropped_topics_do_not_count(session: Session) -> None:
    judged_by_two(session)
    session.execute(update(User).where(User.name == "kim").values(kind=UserKind.MACHINE))
    assert judge_effect(session, SLUG, P1).judges == ("jo",)
    session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
    assert judge_effect(session, SLUG, P1).topics == ("2",)


def test_machines_that_count_are_settled_but_are_no_judges(session: Session) -> None:
    judged_by_two(session)
    session.execute(update(User).where(User.name == "kim").values(kind=UserKind.MACHINE))
    session.execute(update(Collection).values(counts_machines=True))
    effect = judge_effect(session, SLUG, P1)
    assert (effect.judges, effect.pairs, effect.mixture) == (("jo",), (), None)
    assert {one.policy: one.differing for one in effect.policies}["highest"] == 2


def test_one_judge_by_policy_is_in_no_dispute(session: Session) -> None:
    judged_by_two(session)
    session.execute(update(Collection).values(consensus_policy="judge:jo", leaves_out_disputed=True))
    by_name = {one.policy: one for one in judge_effect(session, SLUG, P1).policies}
    # Jo's grades are a 1 and d 0 of topic 1, a 0 and e 1 of topic 2; the lowest makes a of topic 1 a 0.
    assert by_name["lowest"].differing == 1
    assert list(by_name["lowest"].comparison.first) == [0.5, 0.5]


def test_a_machine_that_the_policy_names_counts_under_it_alone(session: Session) -> None:
    judged_by_two(session)
    session.execute(update(User).where(User.name == "kim").values(kind=UserKind.MACHINE))
    session.execute(update(Collection).values(consensus_policy="judge:kim"))
    effect = judge_effect(session, SLUG, P1)
    by_name = {one.policy: one for one in effect.policies}
    assert effect.judges == ("jo",)
    # Kim finds d and e relevant, jo a of topic 1 and e; by every other policy jo is the only one.
    for other in ("majority", "highest"):
        assert by_name[other].differing == 2
        assert list(by_name[other].comparison.first) == [0, 1]
        assert list(by_name[other].comparison.second) == [0.5, 0.5]


def test_the_steps_of_the_work_are_told(session: Session) -> None:
    judged_by_two(session)
    told: list[int] = []

    @contextmanager
    def watch(steps: int) -> Iterator[Callable[[], None]]:
        told.append(steps)
        yield lambda: told.append(1)
        told.append(steps)

    judge_effect(session, SLUG, P1, watch=watch)
    # One pair, six policies, two orders of two judges and the drawing.
    assert told == [10, *[1] * 10, 10]


@pytest.mark.parametrize(
    ("request_", "refusal", "words"),
    [
        (EffectRequest("nDGC"), InvalidValueError, "nDGC"),
        (EffectRequest(draws=1), InvalidValueError, "from 2 to 10000, not 1"),
        (EffectRequest(seed=-1), InvalidValueError, "from 0, not -1"),
        (EffectRequest(), ConflictError, "Nothing is judged yet"),
    ],
)
def test_what_cannot_be_computed_is_said(
    session: Session, request_: EffectRequest, refusal: type[Exception], words: str
) -> None:
    pooled_news(session)
    with pytest.raises(refusal, match=words):
        judge_effect(session, SLUG, request_)


def test_without_a_run_there_is_nothing_to_rank(session: Session) -> None:
    news(session)
    topic_file(session)
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    with pytest.raises(ConflictError, match="no run to score"):
        judge_effect(session, SLUG)


def test_one_judge_alone_has_nobody_to_be_compared_with(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n")
    effect = judge_effect(session, SLUG)
    assert (effect.judges, effect.pairs, effect.pairs_apart, effect.mixture) == (("jo",), (), 0, None)


def test_judges_with_nothing_in_common_are_counted(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n")
    labels(session, "kim", "1 0 b 1\n")
    effect = judge_effect(session, SLUG)
    assert (effect.pairs, effect.pairs_apart, effect.mixture) == ((), 1, None)


def test_who_judges_elsewhere_is_no_judge_here(session: Session) -> None:
    judged_by_two(session)
    member(session, "lee")
    news(session, "other")
    topic_file(session, slug="other")
    run(session, "gamma", {"1": ["a"]}, slug="other")
    member(session, "lee", slug="other")
    labels(session, "lee", "1 0 a 1\n", slug="other", add_to_pool=True)
    assert judge_effect(session, SLUG).judges == ("jo", "kim")
    assert judge_effect(session, "other").tags == ("gamma",)
