"""Holes of the pool, documents without a grade that runs rank high, and the overlap of the runs."""

from marshmallow import Schema, fields

from annotator.api.collections.audit import note
from annotator.api.pools.pool import PoolBuilt, resource
from annotator.api.runs.task_query import TaskQuery
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.report_tables import ReportTable, report_table, state_shown
from annotator.api.site.values import Text, counted, one_of, whole
from annotator.evaluation.reusability.holes import DEPTHS
from annotator.web.site.context import database, now
from annotator.web.site.memories import kept_report
from annotator.workflows.pools import pool_building, run_overlap
from annotator.workflows.pools.pool_holes import GREATEST_DEPTH, holes_report
from annotator.workflows.pools.run_overlap import OverlapPart, overlap_report


class HolesQuery(TaskQuery):
    """The depths to look at."""

    depth = fields.List(
        counted(1, GREATEST_DEPTH),
        load_default=list,
        metadata={"description": "The top of each run to this depth; repeatable. By default 10, 20 and 100."},
    )


class OverlapQuery(TaskQuery):
    """The depth to compare, and which table."""

    depth = counted(
        1,
        run_overlap.GREATEST_DEPTH,
        load_default=run_overlap.USUAL_DEPTH,
        metadata={"description": "Compare the top of the runs to this depth."},
    )
    by = one_of(
        OverlapPart,
        load_default=OverlapPart.RUNS.value,
        metadata={
            "description": "Which table: what every two runs have in common, or what each team contributed and found."
        },
    )


class FillingBody(Schema):
    """The holes to add."""

    depth = whole(
        1, GREATEST_DEPTH, required=True, metadata={"description": "Add the holes of all runs to this depth."}
    )
    task = Text(load_default=None, metadata={"description": "Only those of the runs of this task, by its key."})


@operation(resource, "GET", "/collections/<slug>/pool/holes", READ, Gives(ReportTable), Takes(query=HolesQuery))
def show_holes(call: Call) -> object:
    """Count the documents without a grade in the top of every run; `about` has the cost of judging them, by depth."""
    found = database().read(holes_report, call.slug, tuple(call.query["depth"]) or DEPTHS, task=call.query["task"])
    fillings = [
        {**vars(one), "documents": one.documents, "hours": found.hours(one), "price": found.price(one)}
        for one in found.fillings
    ]
    about = {"qrels": state_shown(found.state), "fillings": fillings}
    return report_table("runs", found.table(), about=about, notices=found.notices)


@operation(resource, "POST", "/collections/<slug>/pool/holes", ORGANISE, Gives(PoolBuilt), Takes(body=FillingBody))
def fill_holes(call: Call) -> object:
    """Add the holes of all runs to a depth as the next version of the pool; there is no confirmation of the cost."""
    depth, task = call.body["depth"], call.body["task"]
    choice = database().read(pool_building.choose_filling, call.slug, depth, task)
    with database().transaction() as session:
        summary = pool_building.store_pool(session, call.slug, choice, built_by_id=caller().id, built_at=now())
        details = {"depth": depth, **({} if task is None else {"task": task}), "added": summary.added}
        note(session, "pool.build", call.slug, subject=summary.version, details=details)
    return summary


@operation(resource, "GET", "/collections/<slug>/pool/overlap", READ, Gives(ReportTable), Takes(query=OverlapQuery))
def show_overlap(call: Call) -> object:
    """Show the share of top documents that every two runs have in common, or the relevant documents of each team."""
    depth, part, task = call.query["depth"], OverlapPart(call.query["by"]), call.query["task"]
    found = kept_report(
        call.slug,
        (overlap_report, depth, True, task),
        lambda session: overlap_report(session, call.slug, depth, with_all=True, task=task),
    )
    about = {"depth": found.depth, "runs": found.runs, "relevant": found.relevant}
    about |= {} if task is None else {"task": task}
    return report_table(part, found.table(part), about=about, notices=found.notices)
