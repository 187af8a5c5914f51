"""Pages of click logs: upload by organisers, results on a page each, and links of variants to runs."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.clicks.web.click_log_form import CHECK_STATES, LIST_TESTS, LOG_KINDS, METHODS, REASONS, ClickLogForm
from annotator.clicks.workflows import click_logs
from annotator.clicks.workflows.click_logs import (
    BALANCED_BIAS,
    CHECK_TITLES,
    MEASURE_TITLES,
    ClickMeasure,
    LogReport,
    LogView,
)
from annotator.errors import InvalidValueError, NotFoundError
from annotator.spreadsheets import csv_text
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.background import arrived_at, long_form, report_percent
from annotator.web.site.context import database, settings, the_person
from annotator.web.site.downloads import CSV, download
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext
from annotator.web.site.uploads import whole_files

blueprint = Blueprint("click_logs", __name__)


@blueprint.get("/collections/<slug>/clicks")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """List the logs, with a form to add one."""
    return _list(slug, ClickLogForm(formdata=None))


@blueprint.post("/collections/<slug>/clicks")
@collection_page(Role.ORGANISER)
@long_form("click_logs.add")
def add(slug: str) -> ResponseReturnValue:
    """Analyse an uploaded log and store the results."""
    form = ClickLogForm()
    if form.validate():
        with form.guard():
            added = _add(slug, form)
    if form.refused:
        return _list(slug, form), form.status
    return redirect(url_for(".one", slug=slug, name=added.name), 303)


@blueprint.get("/collections/<slug>/clicks/log")
@collection_page(Role.ORGANISER)
def one(slug: str) -> ResponseReturnValue:
    """Show the results of a log (`?name=`), and one measure by day (`&by=CTR@1`)."""
    return _page(slug, Form(formdata=None))


@blueprint.get("/collections/<slug>/clicks/log.csv")
@collection_page(Role.ORGANISER)
def as_csv(slug: str) -> ResponseReturnValue:
    """Download one table of a log (`?name=`) as a file: `&table=measures`."""
    name, table = request.args.get("name", ""), request.args.get("table", "")
    report = database().read(click_logs.show_log, slug, name)
    found = click_logs.finding_table(report.findings, table)
    if found is None:
        raise NotFoundError("There is no such part of the report.")
    note_export("clicks.export", slug, subject=name, details={"table": table})
    headings, rows = found
    return download(csv_text([headings, *rows]), f"{slug}-clicks-{table}.csv", CSV)


@blueprint.post("/collections/<slug>/clicks/log")
@collection_page(Role.ORGANISER)
def link(slug: str) -> ResponseReturnValue:
    """Link each variant of a log (`?name=`) to a run; an empty choice removes the link."""
    form, name = Form(), request.args.get("name", "")
    variants, tags = request.form.getlist("variant"), request.form.getlist("run")
    if form.validate():
        with form.guard():
            if not variants or len(variants) != len(tags):
                raise InvalidValueError("The form is incomplete: it needs a run, or none, for each variant.")
            runs = {variant: tag or None for variant, tag in zip(variants, tags, strict=True)}
            with database().transaction() as session:
                click_logs.link_variants(session, slug, name, runs)
                note(session, "clicks.link", slug, subject=name, details={"runs": runs})
    if form.refused:
        return _page(slug, form), form.status
    return done(gettext("Changes saved."), ".one", slug=slug, name=name)


@blueprint.post("/collections/<slug>/clicks/remove")
@collection_page(Role.ORGANISER)
def remove(slug: str) -> ResponseReturnValue:
    """Remove a log (`?name=`)."""
    name = request.args.get("name", "")
    with database().transaction() as session:
        click_logs.remove_log(session, slug, name)
        note(session, "clicks.remove", slug, subject=name)
    return done(gettext("Click log %(name)s removed.", name=name), ".show", slug=slug)


def _add(slug: str, form: ClickLogForm) -> LogView:
    asked = form.request(settings().unpacked_limit)
    titles = database().read(click_logs.foresee_log, slug, asked.name)
    # Analysis takes a while, during which other requests must be able to write.
    files = [(file.name, file.content) for file in whole_files(form.files.data)]
    advance = report_percent(sum(len(content) for _, content in files))
    studied = click_logs.study_log(files, asked, titles, advance=advance)
    with database().transaction() as session:
        stored = click_logs.store_log(session, slug, studied, by_id=the_person().id, at=arrived_at())
        note(session, "clicks.add", slug, subject=stored.name, details={"sha256": stored.checksum})
    return stored


def _list(slug: str, form: ClickLogForm) -> str:
    logs = database().read(click_logs.list_logs, slug)
    upload_limit = settings().upload_limit
    return render_template(
        "clicks/click_logs/list.html", logs=logs, form=form, log_kinds=LOG_KINDS, upload_limit=upload_limit
    )


def _page(slug: str, form: Form) -> str:
    report = database().read(click_logs.show_log, slug, request.args.get("name", ""))
    return render_template(
        "clicks/click_logs/one.html",
        log=report.view,
        tags=report.tags,
        comparison=report.findings.comparison,
        conclusion=click_logs.conclusion(report.findings.comparison) if report.findings.comparison else None,
        interleaving=report.findings.interleaving,
        test=_list_test(report),
        tests=LIST_TESTS,
        balanced_bias=BALANCED_BIAS,
        left_out=report.findings.left_out,
        by=_measure_by_day(report),
        check_titles=CHECK_TITLES,
        measure_titles=MEASURE_TITLES,
        check_states=CHECK_STATES,
        methods=METHODS,
        reasons=REASONS,
        log_kinds=LOG_KINDS,
        form=form,
    )


def _list_test(report: LogReport) -> str | None:
    """How all pairs of an interleaving were tested; None if they were not."""
    found = report.findings.interleaving
    return next((pair.test.value for pair in found.pairs if pair.test is not None), None) if found else None


def _measure_by_day(report: LogReport) -> ClickMeasure | None:
    """The requested measure if it has values by day, else the first that has; None without any."""
    if report.findings.comparison is None:
        return None
    told = list(dict.fromkeys(day.measure for day in report.findings.comparison.days))
    return next((one for one in told if one.value == request.args.get("by")), told[0] if told else None)
