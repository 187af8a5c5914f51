"""Detail behind the leaderboard: one run, the topics, one topic, and two runs compared."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from marshmallow import fields

from annotator.api.leaderboard.reports import GRADES, MEASURE, SEED
from annotator.api.leaderboard.scores import ScopeQuery, resource
from annotator.api.site.access import OBSERVE, gate_of
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.report_tables import ReportTable, report_table
from annotator.api.site.values import Text, counted, one_of
from annotator.errors import NotAllowedError
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.storage import Role
from annotator.storage.qrels.qrels_versions import LIVE
from annotator.web.collections.observer_policy import policy_shown, released_grades
from annotator.web.leaderboard import own_scores
from annotator.web.site.context import database, the_place
from annotator.workflows.leaderboard import compared_runs, inspecting
from annotator.workflows.leaderboard.compared_runs import ComparedRuns, ComparedScores
from annotator.workflows.leaderboard.inspected_tables import (
    PAIR_TABLES,
    RUN_TABLES,
    SCORE_PAIR_TABLES,
    TOPIC_TABLES,
    TOPICS_TABLES,
    table_of,
)
from annotator.workflows.leaderboard.inspecting import (
    MOST_TOP,
    USUAL_SEED,
    USUAL_TOP,
    Choices,
    GradesChosen,
)
from annotator.workflows.people.tokens import Scope

ORGANISERS_ALONE = ("policy", "judge")


class InspectionQuery(ScopeQuery):
    """The measure and the grades."""

    m = Text(load_default=USUAL_MEASURE, metadata=MEASURE)
    qrels = Text(load_default=LIVE, metadata=GRADES)
    policy = Text(load_default=None, metadata={"description": "Settle by this policy. For organisers."})
    judge = Text(load_default=None, metadata={"description": "Only the grades of one judge. For organisers."})


class RunQuery(InspectionQuery):
    """Which table of a run."""

    by = one_of(
        RUN_TABLES,
        load_default="topics",
        metadata={
            "description": (
                "Which table: the score of each topic beside those of all runs; precision at eleven levels of recall; "
                "precision and recall at each relevant document of one topic; cumulated gain by rank; how the "
                "scores of its documents are distributed; unjudged documents; the ranked documents of one topic."
            )
        },
    )
    topic = Text(
        load_default=None,
        metadata={"description": "The topic of curve and list; by default the first with something relevant found."},
    )
    top = counted(1, MOST_TOP, load_default=USUAL_TOP, metadata={"description": "List documents down to this rank."})
    baseline = Text(
        load_default=None,
        metadata={"description": "`about` counts the topics above and below this run's, not the median."},
    )


class TopicsQuery(InspectionQuery):
    """Which table of all topics."""

    by = one_of(
        TOPICS_TABLES,
        load_default="topics",
        metadata={"description": "How hard each topic is, the hardest first, or every score of every run."},
    )


class TopicQuery(InspectionQuery):
    """Which table of a topic."""

    by = one_of(
        TOPIC_TABLES,
        load_default="runs",
        metadata={
            "description": (
                "Which table: the score of every run; the relevant documents with their grades and the runs that found "
                "them; their number by grade, by the number of runs that found them, or by the only team that did."
            )
        },
    )
    depth = counted(
        1,
        MOST_TOP,
        load_default=None,
        metadata={"description": "Found is what a run has to this rank; by default at any."},
    )


class ComparisonQuery(InspectionQuery):
    """The two runs, and which table of their comparison."""

    first = Text(required=True, metadata={"description": "The tag of the first run."})
    second = Text(required=True, metadata={"description": "The tag of the second run."})
    by = one_of(
        PAIR_TABLES,
        load_default="tests",
        metadata={
            "description": (
                "Which table: means and tests; the scores of each topic; documents of one topic by change of rank; "
                "both lists of that topic with their grades; precision at eleven levels of recall."
            )
        },
    )
    topic = Text(
        load_default=None,
        metadata={"description": "The topic of documents and lists; by default where the runs differ most."},
    )
    top = counted(
        1, MOST_TOP, load_default=USUAL_TOP, metadata={"description": "List documents down to this rank in either run."}
    )
    seed = counted(0, load_default=USUAL_SEED, metadata=SEED)
    all_tasks = fields.Boolean(
        load_default=False,
        metadata={
            "description": (
                "Compare runs of different tasks, on the topics of all. Without it, and without a `task`, two runs are "
                "compared in the task of both, and runs of different tasks are refused."
            )
        },
    )


class OwnComparisonQuery(ScopeQuery):
    """Two runs of the caller's team, and which table of their comparison."""

    first = Text(required=True, metadata={"description": "The tag of the first run."})
    second = Text(required=True, metadata={"description": "The tag of the second run."})
    m = Text(load_default=USUAL_MEASURE, metadata=MEASURE)
    by = one_of(
        SCORE_PAIR_TABLES,
        load_default="tests",
        metadata={"description": "Which table: means and tests, or the scores of each topic."},
    )
    seed = counted(0, load_default=USUAL_SEED, metadata=SEED)


@operation(
    resource,
    "GET",
    "/collections/<slug>/leaderboard/runs/<path:tag>",
    OBSERVE,
    Gives(ReportTable),
    Takes(query=RunQuery),
)
def inspect_run(call: Call) -> object:
    """Show one run: each topic beside the median of all runs, curves, unjudged documents, the ranking of a topic."""
    asked = call.query
    found = database().read(
        inspecting.inspect_run,
        call.slug,
        call.path["tag"],
        measure=asked["m"],
        top=asked["top"],
        topic=asked["topic"],
        baseline=asked["baseline"],
        grades=_grades(asked),
    )
    look, differences = found.look, found.differences
    about = {
        **_about(found.choices),
        "run": look.tag,
        "team": found.team,
        "mean": look.mean,
        "place": look.place,
        "judged_at_10": look.judged_share,
        "topic": look.raw_topic,
        "baseline": found.baseline,
        "above": differences.second_higher,
        "below": differences.first_higher,
        "equal": differences.equal,
    }
    return _answer(asked, table_of(RUN_TABLES, asked["by"], found), about, found.choices)


@operation(
    resource, "GET", "/collections/<slug>/leaderboard/topics", OBSERVE, Gives(ReportTable), Takes(query=TopicsQuery)
)
def inspect_topics(call: Call) -> object:
    """Show how hard each topic is, or the score of every run on every topic."""
    found = database().read(inspecting.inspect_topics, call.slug, measure=call.query["m"], grades=_grades(call.query))
    return _answer(call.query, table_of(TOPICS_TABLES, call.query["by"], found), _about(found.choices), found.choices)


@operation(
    resource,
    "GET",
    "/collections/<slug>/leaderboard/topics/<path:number>",
    OBSERVE,
    Gives(ReportTable),
    Takes(query=TopicQuery),
)
def inspect_topic(call: Call) -> object:
    """Show one topic: the score of every run, and its relevant documents with the runs that found them."""
    asked = call.query
    found = database().read(
        inspecting.inspect_topic,
        call.slug,
        call.path["number"],
        measure=asked["m"],
        depth=asked["depth"],
        grades=_grades(asked),
    )
    if not the_place().organises:
        found = replace(found, searchers={})  # it may be a judge
    about = {**_about(found.choices), "topic": found.look.number}
    return _answer(asked, table_of(TOPIC_TABLES, asked["by"], found), about, found.choices)


@operation(
    resource,
    "GET",
    "/collections/<slug>/leaderboard/comparison",
    OBSERVE,
    Gives(ReportTable),
    Takes(query=ComparisonQuery),
)
def compare_runs(call: Call) -> object:
    """Compare two runs by a measure; differences are the second run minus the first.

    `about` has the conclusion: which run leads, by how much with its 95 % interval, and on how many topics.
    """
    asked = call.query
    found = database().read(
        compared_runs.compare_runs,
        call.slug,
        asked["first"],
        asked["second"],
        measure=asked["m"],
        topic=asked["topic"],
        top=asked["top"],
        seed=asked["seed"],
        grades=_grades(asked),
        with_texts=False,
        all_tasks=asked["all_tasks"],
    )
    about = {**_about(found.choices), **_conclusion(found), "topic": found.lists.topic}
    return _answer(asked, table_of(PAIR_TABLES, asked["by"], found), about, found.choices)


@operation(
    resource,
    "GET",
    "/collections/<slug>/scores/comparison",
    gate_of([Scope.READ, Scope.RUNS], [Role.PARTICIPANT]),
    Gives(ReportTable),
    Takes(query=OwnComparisonQuery),
)
def compare_own_runs(call: Call) -> object:
    """Compare two runs of the caller's team by released scores; differences are the second run minus the first.

    `about` has the conclusion, as in the comparison of any two runs. No document is named.
    """
    asked = call.query
    found = own_scores.compare_own_runs(
        call.slug,
        asked["first"],
        asked["second"],
        measure=asked["m"],
        seed=asked["seed"],
        grades=released_grades(asked["round"], residual=asked["residual"], task=asked["task"]),
    )
    about = {**_about(found.choices), **_conclusion(found)}
    return _answer(asked, table_of(SCORE_PAIR_TABLES, asked["by"], found), about, found.choices)


def _conclusion(found: ComparedRuns | ComparedScores) -> dict[str, object]:
    """The conclusion, how the randomisation test was made, and why there is no test, if there is none."""
    tests = found.look.by_measure[0].tests
    reason = tests.t.p.reason
    return {
        "conclusion": {**asdict(found.conclusion), "is_significant": found.conclusion.is_significant},
        "randomisation": {"flips": tests.randomisation.flips, "is_exact": tests.randomisation.is_exact},
        "not_defined": None if reason is None else str(reason.sentence),
    }


def _grades(asked: Mapping[str, Any]) -> GradesChosen:
    """The grades to score by; raises `NotAllowedError` when others than organisers choose how they are settled."""
    if not the_place().organises and any(asked[name] is not None for name in ORGANISERS_ALONE):
        raise NotAllowedError("Only organisers choose how the grades are settled.")
    number = asked["round"]
    scope = (number, number is not None and asked["residual"], asked["task"])
    return GradesChosen(asked["qrels"], asked["judge"], asked["policy"], *scope)


def _about(choices: Choices) -> dict[str, object]:
    """The measure and the grades; only organisers see the name of a judge in the policy."""
    state = asdict(choices.state)
    policy = None if choices.state.policy is None else policy_shown(choices.state.policy)
    qrels = {"name": state.pop("source"), **state, "policy": policy}
    return {"measure": choices.measure, "better": choices.better.value, "qrels": qrels}


def _answer(
    asked: Mapping[str, Any],
    table: tuple[tuple[str, ...], list[Any]],
    about: Mapping[str, object],
    choices: Choices,
) -> dict[str, object]:
    return report_table(asked["by"], table, about=about, notices=choices.notices)
