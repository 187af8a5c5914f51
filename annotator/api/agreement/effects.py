"""What judges do to the ranking of the runs: the effect of their disagreement, and machines beside people."""

from dataclasses import asdict

from marshmallow import fields

from annotator.api.agreement.agreement import resource
from annotator.api.runs.task_query import TaskQuery
from annotator.api.site.access import READ
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.jobs_asked import long_read
from annotator.api.site.report_tables import ReportTable, report_table
from annotator.api.site.values import Text, counted, one_of
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.web.site.context import database
from annotator.web.site.memories import kept_report
from annotator.workflows.agreement.judge_effect import (
    MOST_DRAWS,
    NOTHING_TO_MIX,
    USUAL_DRAWS,
    USUAL_SEED,
    EffectRequest,
    JudgeEffect,
    judge_effect,
)
from annotator.workflows.agreement.judge_tables import EFFECT_TABLES, MACHINE_TABLES
from annotator.workflows.agreement.machine_judges import machine_reports

OF_TABLES = ("runs", "swaps")


class RankingQuery(TaskQuery):
    """The measure that ranks the runs, and the topics."""

    m = Text(load_default=USUAL_MEASURE, metadata={"description": "The measure that ranks the runs, such as nDCG@10."})
    topic = fields.List(Text, load_default=list, metadata={"description": "Only this topic; repeatable."})


class EffectQuery(RankingQuery):
    """How mixtures of judges are drawn, and which table."""

    draws = counted(
        2, MOST_DRAWS, load_default=USUAL_DRAWS, metadata={"description": "The number of random mixtures of judges."}
    )
    seed = counted(0, load_default=USUAL_SEED, metadata={"description": "The seed of the mixtures."})
    by = one_of(
        EFFECT_TABLES,
        load_default="run",
        metadata={
            "description": (
                "Which table: the runs under mixtures of judges, neighbours that swap in them, the rankings of two "
                "judges, or those of two consensus policies."
            )
        },
    )


class MachinesQuery(RankingQuery):
    """Which documents and which table."""

    shared = fields.Boolean(
        load_default=False, metadata={"description": "Only documents that at least two people have graded."}
    )
    by = one_of(
        MACHINE_TABLES,
        load_default="machine",
        metadata={
            "description": (
                "Which table: each machine with the settled grades of people, with each judge, by grade, the machines "
                "ranked, the pairs of runs that differ significantly, bias by grade of people, calibration, the labels "
                "of people that are needed for kappa within a margin, or its labels outside the scale."
            )
        },
    )


@operation(
    resource,
    "GET",
    "/collections/<slug>/agreement/effect",
    READ,
    Gives(ReportTable),
    Takes(query=EffectQuery, long=True),
)
def show_effect(call: Call) -> object:
    """Rank the runs by each judge, by each consensus policy, and by random mixtures of judges."""
    if (left := long_read(call.slug)) is not None:
        return left
    asked = call.query
    request = EffectRequest(asked["m"], tuple(asked["topic"]) or None, asked["draws"], asked["seed"], asked["task"])
    found = database().read(judge_effect, call.slug, request)
    headings, rows = EFFECT_TABLES[asked["by"]]
    notices = found.notices if found.mixture else (*found.notices, NOTHING_TO_MIX)
    return report_table(asked["by"], (headings, rows(found)), about=_about_effect(found), notices=notices)


@operation(
    resource, "GET", "/collections/<slug>/agreement/machines", READ, Gives(ReportTable), Takes(query=MachinesQuery)
)
def show_machines(call: Call) -> object:
    """Compare each machine judge with people: kappa, mean difference, and the ranking of the runs."""
    asked = call.query
    topics, is_shared, task = tuple(asked["topic"]), asked["shared"], asked["task"]
    found = kept_report(
        call.slug,
        (machine_reports, asked["m"], topics, is_shared, task),
        lambda session: machine_reports(
            session, call.slug, asked["m"], topics or None, only_shared=is_shared, task=task
        ),
    )
    headings, rows = MACHINE_TABLES[asked["by"]]
    about = {"measure": found.measure, "policy": found.policy, "grades": found.grades, "runs": len(found.tags)}
    about |= {} if task is None else {"task": task}
    return report_table(asked["by"], (headings, rows(found)), about=about, notices=found.notices)


def _about_effect(found: JudgeEffect) -> dict[str, object]:
    """What the tables do not have; of mixtures, how alike the rankings by two of them are."""
    mixtures = {}
    if found.mixture is not None:
        mixtures = {name: fact for name, fact in asdict(found.mixture).items() if name not in OF_TABLES}
    return {
        "measure": found.measure,
        "topics": found.topics,
        "judges": found.judges,
        "policy": found.own_policy,
        "pairs_left_out": found.pairs_left_out,
        "pairs_apart": found.pairs_apart,
        "mixtures": mixtures or None,
        **({} if found.task is None else {"task": found.task}),
    }
