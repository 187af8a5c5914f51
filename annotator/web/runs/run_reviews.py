"""Checked run files: a row for each, whose tag and details can be changed, and the button that stores them."""

from dataclasses import replace
from io import BytesIO

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError
from annotator.storage import Role
from annotator.web.runs.review_rows import checked_rows, review_page
from annotator.web.runs.runs import About, RunsForm
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import actor
from annotator.web.site.background import JOB_KIND, arrived_at, kept_form, leave_form, report_reading, work
from annotator.web.site.context import database, now, settings
from annotator.workflows.runs import run_upload

blueprint = Blueprint("run_reviews", __name__)


@blueprint.get("/collections/<slug>/runs/uploads/<row:id_>")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str, id_: int) -> ResponseReturnValue:
    """The checked files of an upload, with what was found in each."""
    kept = kept_form(slug, id_)
    rows = checked_rows(kept.answer["rows"])
    about = About.of_request(slug, kept.fields)
    return review_page(id_, kept.answer, RunsForm(kept.fields), about.costs, about.answers, rows), kept.status


@blueprint.post("/collections/<slug>/runs/uploads/<row:id_>")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def store(slug: str, id_: int) -> ResponseReturnValue:
    """Store the ticked files with the tags and details that were entered: all of them or none."""
    sent_at, kept = arrived_at(), kept_form(slug, id_)
    if work() is None and kept.is_heavy:
        return leave_form(slug, [BytesIO(file.content) for file in kept.files])
    form, about = RunsForm(), About.of_request(slug)
    rows = checked_rows(kept.answer["rows"], request.form)
    if all([about.validate(form), *(row.form.validate() for row in rows if row.form.use.data)]):
        chosen = kept.fields.get("input_format") or None
        with form.guard():
            if not any(row.form.use.data for row in rows):
                raise InvalidValueError("Tick at least one file.")
            run_upload.upload(
                database(),
                slug,
                report_reading([replace(file, input_format=chosen) for file in kept.files]),
                about.submission(form, entries=[row.entry for row in rows]),
                actor=actor(),
                at=sent_at,
                noted_at=now(),
                unpacked_limit=settings().unpacked_limit,
            )
        if form.refusal is None:
            return redirect(url_for("run.receipt", slug=slug, at=sent_at.isoformat()), 303)
    return review_page(id_, kept.answer, form, about.costs, about.answers, rows), form.status


setattr(store, JOB_KIND, "runs.store")
