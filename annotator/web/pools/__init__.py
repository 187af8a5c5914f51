"""Pages of pools."""

from annotator.web.pools import pool_plan, pools

BLUEPRINTS = (
    pool_plan.blueprint,
    pools.blueprint,
)
