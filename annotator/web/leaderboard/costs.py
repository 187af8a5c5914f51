"""System costs together with scores; participants see them once the leaderboard is released."""

from collections.abc import Sequence

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError, NotFoundError
from annotator.evaluation.costs.facts import Fact, FactKind, Per
from annotator.evaluation.costs.report import CostColumn, CostReport, Question
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.storage import Role
from annotator.web.leaderboard.own_scores import cost_board, cost_report, require_released_costs
from annotator.web.people.senders import own_team, sender_state
from annotator.web.runs.cost_forms import ColumnForm, ColumnRemovalForm, CostsForm, costs_form, filled_form
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.error_pages import page_or_refusal
from annotator.web.site.forms import done
from annotator.web.site.language import gettext
from annotator.web.site.query_string import asked_word
from annotator.workflows.leaderboard import costs_text
from annotator.workflows.runs import run_costs
from annotator.workflows.runs.run_costs import RunCosts

blueprint = Blueprint("costs", __name__)


@blueprint.get("/collections/<slug>/costs")
@collection_page(Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """The costs of every run, and the Pareto front: `?m=nDCG@10&cost=latency_p95&within=50`."""
    require_released_costs()
    report, refused, unscored = None, None, None
    try:
        board, unscored = _board(slug)
        report = _report(slug, board)
    except (InvalidValueError, NotFoundError) as refusal:
        refused = refusal
    facts = database().read(run_costs.list_facts, slug)
    page = render_template(
        "leaderboard/costs/show.html",
        report=report,
        refused=refused,
        unscored=unscored,
        axes=_axes(report, facts),
        given={"m": _measure(), "cost": asked_word("cost", "") or None, "within": _within() or None},
        policy=report.board.policy if report and report.board else None,
    )
    return page_or_refusal(page, refused)


@blueprint.get("/collections/<slug>/costs.csv")
@collection_page(Role.ORGANISER, Role.OBSERVER, Role.PARTICIPANT)
def as_csv(slug: str) -> ResponseReturnValue:
    """The costs as CSV in full precision."""
    require_released_costs()
    report = _report(slug, _board(slug)[0])
    return download(costs_text.costs_csv(report), f"{slug}-costs.csv", CSV)


@blueprint.get("/collections/<slug>/costs/columns")
@collection_page(Role.ORGANISER)
def columns(slug: str) -> ResponseReturnValue:
    """The facts that participants are asked for, and the form for adding one."""
    return _columns_page(slug, ColumnForm(formdata=None))


@blueprint.post("/collections/<slug>/costs/columns")
@collection_page(Role.ORGANISER)
def add_column(slug: str) -> ResponseReturnValue:
    """Add a fact."""
    form = ColumnForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            fact = run_costs.add_column(session, slug, form.request(), at=now())
            note(session, "costs.add-column", slug, subject=fact.key, details=vars(form.request()))
    if form.refused:
        return _columns_page(slug, form), form.status
    return done(gettext("Column added: teams can now state it for every run."), ".columns", slug=slug)


@blueprint.post("/collections/<slug>/costs/columns/remove")
@collection_page(Role.ORGANISER)
def remove_column(slug: str) -> ResponseReturnValue:
    """Remove a fact."""
    form = ColumnRemovalForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            run_costs.remove_column(session, slug, form.key.data)
            note(session, "costs.remove-column", slug, subject=form.key.data)
    if form.refused:
        return _columns_page(slug, ColumnForm(formdata=None), form.refusal), form.status
    return done(gettext("Column removed."), ".columns", slug=slug)


def _measure() -> str:
    return asked_word("m", DEFAULT_MEASURES[0])


def _within() -> str:
    return request.args.get("within", "").strip()


def _board(slug: str) -> tuple[Leaderboard | None, AnnotatorError | None]:
    return cost_board(slug, _measure())


def _report(slug: str, board: Leaderboard | None) -> CostReport:
    return cost_report(slug, board, Question(asked_word("cost", "") or None, _within()))


def _axes(report: CostReport | None, facts: Sequence[Fact]) -> list[CostColumn]:
    """The possible cost axes: the numeric facts reported for some run, and the selected one."""
    if report is None:
        once = [fact for fact in facts if fact.kind is FactKind.NUMBER and fact.per is Per.SYSTEM]
        return [CostColumn(fact) for fact in once]
    is_there = report.axis.address in {column.address for column in report.axes}
    return [*report.axes, *([] if is_there else [report.axis])]


def _columns_page(slug: str, form: ColumnForm, refused: AnnotatorError | None = None) -> str:
    facts = database().read(run_costs.list_facts, slug)
    return render_template("leaderboard/costs/columns.html", facts=facts, form=form, refused=refused or form.refusal)


@blueprint.get("/collections/<slug>/runs/costs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show_run(slug: str) -> ResponseReturnValue:
    """The form with the costs of a run (`?tag=`)."""
    stated = _stated_of_run(slug)
    return _run_page(slug, stated, filled_form(stated))


@blueprint.post("/collections/<slug>/runs/costs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def state_run(slug: str) -> ResponseReturnValue:
    """Replace the costs of a run with those entered."""
    stated = _stated_of_run(slug)
    form = costs_form(stated.facts)
    at = now()
    if form.validate():
        with form.guard(), database().transaction() as session:
            run_costs.replace_costs(
                session, slug, _tag(), form.statements, at=at, by_id=the_person().id, team=own_team()
            )
            stated_now = sorted(one.address for one in form.statements)
            note(session, "costs.set", slug, subject=_tag(), details={"facts": stated_now})
    if form.refused:
        return _run_page(slug, stated, form), form.status
    return done(gettext("Costs of the system saved."), "run.show", slug=slug, tag=_tag())


def _tag() -> str:
    return request.args.get("tag", "")


def _stated_of_run(slug: str) -> RunCosts:
    return database().read(run_costs.costs_of_run, slug, _tag(), team=own_team())


def _run_page(slug: str, stated: RunCosts, form: CostsForm) -> str:
    return render_template("leaderboard/costs/run.html", stated=stated, form=form, sending=sender_state(slug))
