"""Simulation of pooling strategies on the judgements that a collection has itself."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.stopping.stopping_simulation import StoppingTrial
from annotator.files import InputFile
from annotator.workflows.pools.pool_simulation import USUAL_START_DEPTHS, Simulation, simulate_strategies
from annotator.workflows.qrels.qrels import export_qrels

QRELS = "qrels.txt"


def simulate_on_qrels(
    session: Session,
    slug: str,
    *,
    names: Sequence[str] = (),
    start_depths: Sequence[int] = USUAL_START_DEPTHS,
    strata: str | None = None,
    stopping: StoppingTrial | None = None,
    seed: int,
    made_at: datetime,
    unpacked_limit: int,
) -> Simulation:
    """Simulate strategies on the settled grades of this moment, as `simulate_strategies` does on those of a file.

    Raises as it does, and `ConflictError` while nothing is judged.
    """
    qrels = export_qrels(session, slug, made_at=made_at).qrels
    if not qrels:
        raise ConflictError("Nothing is judged yet, so there is nothing to simulate with.")
    return simulate_strategies(
        session,
        slug,
        InputFile(QRELS, qrels),
        names=names,
        start_depths=start_depths,
        strata=strata,
        stopping=stopping,
        seed=seed,
        unpacked_limit=unpacked_limit,
    )
