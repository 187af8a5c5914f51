"""Holes: what is unjudged in the tops of the runs, from what is stored."""

import pytest
from build import NOW, SLUG, build, labels, news, pool, pooled_news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.storage import Pool, Showing
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools.pool_building import choose_filling, store_pool
from annotator.workflows.pools.pool_holes import Filling, holes_report


def test_unjudged_documents_are_counted_by_run_and_depth(session: Session) -> None:
    # alpha: 1 → a b c, 2 → a; beta: 1 → d b a, 2 → e; the pool has all of them.
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n1 0 b 0\n")
    report = holes_report(session, SLUG, [3, 1, 3])
    assert (report.depths, report.topics) == ((1, 3), 2)
    assert report.table()[1] == [
        ["alpha", 1, 2, 1, 0.5, 1],
        ["alpha", 3, 4, 2, 0.5, 2],
        ["beta", 1, 2, 2, 1.0, 2],
        ["beta", 3, 4, 2, 0.5, 2],
    ]
    # Down to 1: d; a and e of topic 2. Down to 3 also c.
    assert report.fillings == (Filling(1, pooled=3, new=0, topics=2), Filling(3, pooled=4, new=0, topics=2))


def test_what_fills_them_is_not_in_a_shallow_pool_until_a_deeper_one_is_built(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b", "c"]})
    pool(session, depth=1)
    labels(session, "jo", "1 0 a 1\n")
    assert holes_report(session, SLUG, [2]).fillings == (Filling(2, pooled=0, new=1, topics=1),)
    pool(session, depth=2)
    [filling] = holes_report(session, SLUG, [2]).fillings
    assert (filling.pooled, filling.new, filling.documents) == (1, 0, 1)


def test_a_depth_is_a_number_from_1_and_it_takes_a_run(session: Session) -> None:
    news(session)
    topic_file(session)
    with pytest.raises(ConflictError, match="There is no run yet"):
        holes_report(session, SLUG)
    run(session, "alpha", {"1": ["a"]})
    with pytest.raises(InvalidValueError, match="must be 1 or more, not 0"):
        holes_report(session, SLUG, [0])


@pytest.mark.parametrize("showing", Showing)
def test_what_fills_the_holes_is_shown_in_the_order_of_the_version_before(session: Session, showing: Showing) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", {"1": ["a", "b", "c"]})
    build(session, PoolRequest("depth", {"depth": 1}), showing=showing)
    # What is imported is a version, too, but nobody chose an order for it.
    labels(session, "jo", "1 0 z 1\n", add_to_pool=True)
    store_pool(session, SLUG, choose_filling(session, SLUG, 3), built_by_id=None, built_at=NOW)
    assert list(session.scalars(select(Pool.showing).order_by(Pool.version)))[-1] == showing
