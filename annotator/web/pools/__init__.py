"""Pages of pools."""

from annotator.web.pools import pool_plan, pool_simulation, pools, stopping

BLUEPRINTS = (
    pool_plan.blueprint,
    pool_simulation.blueprint,
    pools.blueprint,
    stopping.blueprint,
)
