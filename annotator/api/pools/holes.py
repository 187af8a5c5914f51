"""Holes of the pool: documents without a grade that runs rank high; add them to the pool."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.pools.pool import PoolBuilt, resource
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.report_tables import ReportTable, report_table, state_shown
from annotator.api.site.values import counted, whole
from annotator.evaluation.reusability.holes import DEPTHS
from annotator.web.site.context import database, now
from annotator.workflows.pools import pool_building
from annotator.workflows.pools.pool_holes import GREATEST_DEPTH, holes_report


class HolesQuery(Schema):
    """The depths to look at."""

    depth = fields.List(
        counted(1, GREATEST_DEPTH),
        load_default=list,
        metadata={"description": "The top of each run to this depth; repeatable. By default 10, 20 and 100."},
    )


class FillingBody(Schema):
    """The holes to add."""

    depth = whole(
        1, GREATEST_DEPTH, required=True, metadata={"description": "Add the holes of all runs to this depth."}
    )


@operation(resource, "GET", "/collections/<slug>/pool/holes", READ, Gives(ReportTable), Takes(query=HolesQuery))
def show_holes(call: Call) -> object:
    """Count the documents without a grade in the top of every run; `about` has the cost of judging them, by depth."""
    found = database().read(holes_report, call.slug, tuple(call.query["depth"]) or DEPTHS)
    fillings = [
        {**vars(one), "documents": one.documents, "hours": found.hours(one), "price": found.price(one)}
        for one in found.fillings
    ]
    return report_table("runs", found.table(), about={"qrels": state_shown(found.state), "fillings": fillings})


@operation(resource, "POST", "/collections/<slug>/pool/holes", ORGANISE, Gives(PoolBuilt), Takes(body=FillingBody))
def fill_holes(call: Call) -> object:
    """Add the holes of all runs to a depth as the next version of the pool; there is no confirmation of the cost."""
    depth = call.body["depth"]
    choice = database().read(pool_building.choose_filling, call.slug, depth)
    with database().transaction() as session:
        summary = pool_building.store_pool(session, call.slug, choice, built_by_id=caller().id, built_at=now())
        details = {"depth": depth, "added": summary.added}
        note(session, "pool.build", call.slug, subject=summary.version, details=details)
    return summary
