"""Reports on runs and grades: significance, correlation, quality of the collection, leave-one-out, qrels compared."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from marshmallow import Schema, fields

from annotator.api.leaderboard.scores import ScopeQuery, resource
from annotator.api.runs.task_query import TaskQuery
from annotator.api.site.access import OBSERVE, READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs_asked import long_read
from annotator.api.site.report_tables import ReportTable, report_table, state_shown
from annotator.api.site.values import Text, counted, one_of
from annotator.evaluation.leaderboard.qrels_difference import GradeChange, RunDifference, TopicDifference
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.evaluation.significance.tukey import PERMUTATIONS
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.collections.observer_policy import policy_shown
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.context import database
from annotator.web.site.memories import kept_report
from annotator.workflows.leaderboard.estimates import MOST_RESCORED, EstimatePart, EstimateRequest, estimate_report
from annotator.workflows.leaderboard.leave_out_report import By, LeaveOutRequest, Part, leave_out_report
from annotator.workflows.leaderboard.measure_correlation import HEADINGS, USUAL_MEASURES, Side, correlate
from annotator.workflows.leaderboard.reusability_report import (
    USUAL_SEED,
    QualityRequest,
    ReusabilityPart,
    quality_report,
)
from annotator.workflows.leaderboard.significance_report import (
    SignificancePart,
    SignificanceRequest,
    significance_report,
)
from annotator.workflows.qrels.qrels_diff import diff_qrels

MEASURE = {"description": "The measure, such as nDCG@10."}
GRADES = {"description": "The qrels to score by: the number of a kept version, or live."}
SEED = {"description": "The seed of the random samples."}
CHANGES, TOPICS, RUNS = "changes", "topics", "runs"


class SignificanceQuery(ScopeQuery):
    """What is tested."""

    m = Text(load_default=USUAL_MEASURE, metadata=MEASURE)
    qrels = Text(load_default=LIVE, metadata=GRADES)
    baseline = Text(load_default=None, metadata={"description": "Also compare every other run with this one."})
    permute = fields.Boolean(
        load_default=False, metadata={"description": "Also the randomised test, by 100,000 permutations at most."}
    )
    seed = counted(0, load_default=USUAL_SEED, metadata=SEED)
    by = one_of(SignificancePart, load_default=SignificancePart.RUNS.value, metadata={"description": "Which table."})


class EstimatesQuery(TaskQuery):
    """What is estimated."""

    m = Text(load_default=USUAL_MEASURE, metadata=MEASURE)
    machine = Text(
        load_default=None,
        metadata={"description": "The machine judge whose labels are used; by default that of the sample."},
    )
    people_only = fields.Boolean(load_default=False, metadata={"description": "Use no machine."})
    baseline = Text(load_default=None, metadata={"description": "Also compare every other run with this one."})
    by = one_of(
        EstimatePart, load_default=EstimatePart.RUNS.value, metadata={"description": "The runs, or every two of them."}
    )


class CorrelationQuery(TaskQuery):
    """The two rankings of the runs."""

    m = Text(load_default=USUAL_MEASURES[0], metadata={"description": "The measure of the first ranking."})
    m2 = Text(load_default=None, metadata={"description": "The measure of the second ranking."})
    qrels = Text(load_default=LIVE, metadata=GRADES)
    qrels2 = Text(load_default=LIVE, metadata={"description": "The qrels of the second ranking."})


class QualityQuery(ScopeQuery):
    """Which part of the quality report."""

    m = Text(load_default=USUAL_MEASURE, metadata=MEASURE)
    seed = counted(0, load_default=USUAL_SEED, metadata=SEED)
    by = one_of(ReusabilityPart, load_default=ReusabilityPart.TOPICS.value, metadata={"description": "Which table."})


class LeaveOutQuery(TaskQuery):
    """Whose contributions are left out, one after the other."""

    m = Text(load_default=USUAL_MEASURE, metadata=MEASURE)
    whom = one_of(By, load_default=By.TEAM.value, metadata={"description": "Leave out teams or single runs."})
    depth = counted(
        load_default=None,
        metadata={"description": "Take the pool as the top of all runs to this depth; by default as it was built."},
    )
    by = one_of(Part, load_default=Part.RUNS.value, metadata={"description": "Which table."})


class DifferencesQuery(Schema):
    """The two states of the qrels."""

    before = Text(required=True, metadata={"description": "The number of a kept version, or live."})
    after = Text(load_default=LIVE, metadata={"description": "The number of a kept version, or live."})
    m = Text(load_default=USUAL_MEASURE, metadata=MEASURE)
    by = one_of(
        (CHANGES, TOPICS, RUNS),
        load_default=CHANGES,
        metadata={"description": "Changed grades, their numbers by topic, or the effect on every run."},
    )


@operation(
    resource,
    "GET",
    "/collections/<slug>/significance",
    OBSERVE,
    Gives(ReportTable),
    Takes(query=SignificanceQuery, long=True),
)
def show_significance(call: Call) -> object:
    """Test which runs differ by more than chance: Tukey's HSD, paired t tests, variance, topics needed."""
    if (left := long_read(call.slug)) is not None:
        return left
    asked = call.query
    wanted = SignificanceRequest(
        measure=asked["m"],
        qrels=asked["qrels"],
        baseline=asked["baseline"],
        permutations=PERMUTATIONS if asked["permute"] else None,
        seed=asked["seed"],
        round=asked["round"],
        residual=asked["round"] is not None and asked["residual"],
        task=asked["task"],
    )
    found = database().read(significance_report, call.slug, wanted)
    part = SignificancePart(asked["by"])
    about = {"measure": found.measure, "qrels": state_shown(found.state)}
    return report_table(part, found.table(part), about=about, notices=found.notices)


@operation(
    resource,
    "GET",
    "/collections/<slug>/leaderboard/estimates",
    OBSERVE,
    Gives(ReportTable),
    Takes(query=EstimatesQuery),
)
def show_estimates(call: Call) -> object:
    """Estimate every run's score from a sample of judgements and a machine's labels, with 95 % intervals.

    `low` and `high` are for these topics, `low_in_all` and `high_in_all` for topics like these; `people` is the
    estimate without the machine, `machine` the score by its labels alone, as biased as they are.
    """
    asked = call.query
    wanted = EstimateRequest(
        asked["m"],
        asked["machine"],
        people_only=asked["people_only"],
        baseline=asked["baseline"],
        most_rescored=MOST_RESCORED,
        task=asked["task"],
    )
    found = kept_report(
        call.slug, (estimate_report, wanted), lambda session: estimate_report(session, call.slug, wanted)
    )
    part = EstimatePart(asked["by"])
    about = {
        **{name: getattr(found, name) for name in ("measure", "machine", "version", "relevant_from", "topics")},
        **{name: getattr(found, name) for name in ("documents", "judged", "differing")},
        "policy": policy_shown(found.policy),
        **({} if found.task is None else {"task": found.task}),
    }
    return report_table(part, found.table(part), about=about, notices=found.notices)


@operation(
    resource, "GET", "/collections/<slug>/correlation", OBSERVE, Gives(ReportTable), Takes(query=CorrelationQuery)
)
def show_correlation(call: Call) -> object:
    """Rank the runs twice, by two measures or two states of the qrels, and compare the rankings.

    `about` has Kendall's tau-b, AP correlation and rank-biased overlap; null where there is no order to compare.
    """
    asked = call.query
    second = asked["m2"] or (asked["m"] if asked["qrels"] != asked["qrels2"] else USUAL_MEASURES[1])
    sides = Side(asked["m"], asked["qrels"]), Side(second, asked["qrels2"])
    task = asked["task"]
    found = kept_report(
        call.slug, (correlate, sides, task), lambda session: correlate(session, call.slug, *sides, task=task)
    )
    about = {
        "tau": found.tau.value,
        "tau_ap": found.similarity.tau_ap,
        "rbo": found.similarity.rbo,
        **{
            name: {"measure": side.measure, "qrels": state_shown(side.state)}
            for name, side in (("first", found.first), ("second", found.second))
        },
    }
    rows = [(run.tag, run.first, run.second, run.first_place, run.second_place) for run in found.runs]
    return report_table("runs", (HEADINGS, rows), about=about, notices=found.notices)


@operation(
    resource, "GET", "/collections/<slug>/quality", OBSERVE, Gives(ReportTable), Takes(query=QualityQuery, long=True)
)
def show_quality(call: Call) -> object:
    """Show how far the collection can be reused: relevant documents by topic, by depth, and with fewer judgements."""
    if (left := long_read(call.slug)) is not None:
        return left
    asked = call.query
    part = ReusabilityPart(asked["by"])
    scope = (asked["round"], asked["round"] is not None and asked["residual"], asked["task"])
    wanted = QualityRequest(asked["m"], asked["seed"], part is ReusabilityPart.FEWER, *scope)
    found = database().read(quality_report, call.slug, wanted, to_come=choices_to_come(call.slug))
    about = {"measure": found.measure, "qrels": state_shown(found.state), "runs": found.runs}
    return report_table(part, found.table(part), about=about, notices=found.notices)


@operation(
    resource, "GET", "/collections/<slug>/leave-out", OBSERVE, Gives(ReportTable), Takes(query=LeaveOutQuery, long=True)
)
def show_leave_out(call: Call) -> object:
    """Score every team or run without the documents that it alone contributed to the pool."""
    if (left := long_read(call.slug)) is not None:
        return left
    asked = call.query
    wanted = LeaveOutRequest((asked["m"],), By(asked["whom"]), asked["depth"], asked["task"])
    found = kept_report(
        call.slug, (leave_out_report, wanted), lambda session: leave_out_report(session, call.slug, wanted)
    )
    part = Part(asked["by"])
    return report_table(part, found.table(part), about={"qrels": state_shown(found.state)}, notices=found.notices)


@operation(
    resource, "GET", "/collections/<slug>/qrels/differences", READ, Gives(ReportTable), Takes(query=DifferencesQuery)
)
def compare_qrels(call: Call) -> object:
    """Compare two states of the qrels: changed grades, and the effect on every run."""
    asked = call.query
    found = database().read(diff_qrels, call.slug, asked["before"], asked["after"], asked["m"])
    parts: Mapping[str, Sequence[GradeChange | TopicDifference | RunDifference]]
    parts = {CHANGES: found.changes, TOPICS: found.topics, RUNS: found.runs}
    rows = [asdict(one) for one in parts[asked["by"]]]
    about = {"measure": found.measure, "before": vars(found.before), "after": vars(found.after), "tau": found.tau}
    headings = list(rows[0]) if rows else []
    return report_table(
        asked["by"], (headings, [list(row.values()) for row in rows]), about=about, notices=found.notices
    )
