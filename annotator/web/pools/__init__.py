"""Pages of pools."""

from annotator.web.pools import pool_holes, pool_plan, pools

BLUEPRINTS = (
    pool_holes.blueprint,
    pool_plan.blueprint,
    pools.blueprint,
)
