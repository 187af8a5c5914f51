"""What building a pool would add to the work of judges, said before it is built."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.storage.collection import find_open_collection
from annotator.storage.judging_effort import Effort
from annotator.storage.pooled_runs import PoolRequest
from annotator.workflows.pool_planning import PlanMemory, plan_pool


@dataclass(frozen=True)
class PoolGrowth:
    """What a pool adds to the work of judges; `to_come` of the documents are chosen as judgements come."""

    documents: int
    topics: int
    to_come: int
    effort: Effort

    @property
    def judgements(self) -> int:
        """The judgements that these documents want, about: lots decide which get a second one."""
        return round(self.documents * self.effort.judgements_wanted)

    @property
    def hours(self) -> float:
        """How long all judges together are busy with them."""
        return self.effort.hours(self.judgements)


def foresee_growth(
    session: Session,
    slug: str,
    request: PoolRequest,
    *,
    seed: int | None = None,
    memory: PlanMemory | None = None,
) -> PoolGrowth:
    """What building a pool would add; raises what planning it raises, and `ConflictError` in a closed collection."""
    find_open_collection(session, slug)
    plan = plan_pool(session, slug, request, seed=seed, memory=memory)
    at = plan.asked
    topics = sum(topic.added[at] > 0 for topic in plan.topics)
    return PoolGrowth(plan.total.added[at], topics, plan.to_come[at], plan.effort)
