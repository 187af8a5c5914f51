"""How much judging a pool would add, which a person at a terminal confirms before it is built."""

from annotator.cli.site.confirming import at_terminal, confirm
from annotator.cli.site.installation import Installation
from annotator.storage.pools.pooled_runs import PoolRequest
from annotator.workflows.pools.pool_planning import PoolGrowth, foresee_growth


def confirm_growth(
    installation: Installation, slug: str, request: PoolRequest, *, seed: int | None = None, yes: bool
) -> None:
    """Ask at a terminal whether to go on, unless it is told already or no document would join the pool."""
    if yes or not at_terminal():
        return
    with installation.database.reading() as session:
        growth = foresee_growth(session, slug, request, seed=seed)
    if growth.documents:
        confirm(_effect(growth), yes=False)


def _effect(growth: PoolGrowth) -> str:
    effort = growth.effort
    later = f", {growth.to_come} of them as judgements come" if growth.to_come else ""
    pace = "the median so far" if effort.is_measured else "assumed, for too few were measured"
    decimals = 1 if growth.hours >= 1 else 2
    return (
        f"Documents that join the pool: {growth.documents}{later}, in {growth.topics} topics. Judgements wanted: "
        f"{growth.judgements}, about {growth.hours:,.{decimals}f} hours at {effort.seconds:.1f} seconds each ({pace})."
    )
