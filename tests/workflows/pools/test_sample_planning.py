"""The intervals that a planned sample will give: with a machine only, by budget; refused for what is not above 0."""

import pytest
from build import SLUG
from sampled_news import DOCNOS, MACHINE, draw, judge, sampled_news
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools.pool_planning import PoolPlan, plan_pool
from annotator.workflows.pools.sample_planning import MEASURES, PrecisionWanted, SamplePrecision


def planned(session: Session, wanted: PrecisionWanted | None = None, **said: str | int) -> PoolPlan:
    parameters = {"budget": 40, "certainty_depth": 2, "bands": "10", "depth": 30, **said}
    return plan_pool(session, SLUG, PoolRequest("sample", parameters), precision=wanted or PrecisionWanted())


def precision_of(plan: PoolPlan) -> SamplePrecision:
    assert plan.precision is not None
    return plan.precision


def test_a_plan_tells_the_interval_with_and_without_the_machine(session: Session) -> None:
    sampled_news(session)
    found = precision_of(planned(session, machine=MACHINE))
    assert (found.machine, found.judged, found.correlation, found.documents) == (MACHINE, 0, 0.6, 64)
    assert [one.measure for one in found.measures] == list(MEASURES)
    for one in found.measures:
        assert 0 < one.half_width < one.half_width_people
        assert one.for_interval <= one.for_interval_people <= 64
        assert one.for_difference <= one.for_difference_people <= 64
        budgets = [budget for budget, *_ in one.points]
        assert budgets == sorted(budgets)
        assert 40 in budgets
        assert one.points[-1] == (64, 0.0, 0.0)
        halves = [half for _, half, _ in one.points]
        assert halves == sorted(halves, reverse=True)


def test_the_correlation_is_measured_once_people_have_judged(session: Session) -> None:
    sampled_news(session)
    draw(session, 40)
    judge(session, [("1", docno) for docno in DOCNOS])
    found = precision_of(planned(session, machine=MACHINE))
    assert found.judged == 32
    assert 0.5 < found.correlation < 1


def test_a_wider_interval_takes_fewer_documents(session: Session) -> None:
    sampled_news(session)
    narrow, wide = (
        precision_of(planned(session, PrecisionWanted(half, 0.05), machine=MACHINE)).measures[1].for_interval
        for half in (0.02, 0.1)
    )
    assert wide < narrow


def test_nothing_is_foreseen_without_a_machine_or_for_other_pools(session: Session) -> None:
    sampled_news(session)
    assert planned(session).precision is None
    assert planned(session).as_json["precision"] is None
    request = PoolRequest("depth", {"depth": 5})
    assert plan_pool(session, SLUG, request, precision=PrecisionWanted()).precision is None


@pytest.mark.parametrize("wanted", [PrecisionWanted(0, 0.1), PrecisionWanted(0.1, -1), PrecisionWanted(float("nan"))])
def test_what_is_not_above_0_is_refused(session: Session, wanted: PrecisionWanted) -> None:
    sampled_news(session)
    with pytest.raises(InvalidValueError, match="must be above 0"):
        planned(session, wanted, machine=MACHINE)
