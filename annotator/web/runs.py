"""Runs: check them, send them, list them, get them back."""

from collections.abc import Sequence

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField
from wtforms import BooleanField, StringField

from annotator.errors import NotFoundError
from annotator.storage import Role
from annotator.web.access import collection_page
from annotator.web.context import database, now, settings, the_person, the_place
from annotator.web.downloads import BYTES, download
from annotator.web.forms import Form
from annotator.web.language import gettext, lazy_gettext
from annotator.web.uploads import input_files
from annotator.workflows import runs
from annotator.workflows.runs import CheckedRun

blueprint = Blueprint("runs", __name__)


class RunsForm(Form):
    """Files of runs."""

    files = MultipleFileField(
        lazy_gettext("Files of runs"),
        [FileRequired()],
        description=lazy_gettext(
            "Six columns a line (topic, Q0, docno, rank, score, tag), one run a file, also gzipped. Order is by score; "
            "the rank column is not read."
        ),
    )
    team = StringField(lazy_gettext("Team"), description=lazy_gettext("Whose runs they are; may stay empty."))
    description = StringField(lazy_gettext("Description"), description=lazy_gettext("How the system works, in a line."))
    tag_from_file = BooleanField(
        lazy_gettext("Take the tag from the file's name"),
        description=lazy_gettext("For files that share a tag: the name without .gz and .txt counts instead."),
    )


@blueprint.get("/collections/<slug>/runs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """The runs; a participant sees their team's."""
    return _page(slug, RunsForm())


@blueprint.post("/collections/<slug>/runs/check")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def check(slug: str) -> ResponseReturnValue:
    """Say what is wrong with files of runs, or what they would become, and store nothing."""
    form = RunsForm()
    checked: Sequence[CheckedRun] = ()
    if form.validate():
        with form.guard():
            checked = _checked(slug, form)
    return _page(slug, form, checked), form.status if form.refused else 200


@blueprint.post("/collections/<slug>/runs")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def upload(slug: str) -> ResponseReturnValue:
    """Store runs, all of the files or none."""
    form = RunsForm()
    if form.validate():
        with form.guard():
            checked = _checked(slug, form)
            with database().transaction() as session:
                tags = runs.store_runs(
                    session,
                    slug,
                    checked,
                    team=_team() if _only_own() else (form.team.data or "").strip() or None,
                    description=form.description.data or "",
                    uploaded_by_id=the_person().id,
                    uploaded_at=now(),
                )
    if form.refused:
        return _page(slug, form), form.status
    flash(gettext("Runs stored: %(tags)s. They join the pool when it is built next.", tags=", ".join(tags)))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.get("/collections/<slug>/runs/file")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def original(slug: str) -> ResponseReturnValue:
    """The file of a run (`?tag=`) byte for byte as it was sent; a participant gets their team's."""
    tag = request.args.get("tag", "")
    with database().reading() as session:
        if _only_own() and tag not in {run.tag for run in runs.list_runs(session, slug, team=_team())}:
            raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
        file = runs.original_file(session, slug, tag)
    return download(file.content, file.name, BYTES)


def _only_own() -> bool:
    """Whether this person may see and send only their team's runs."""
    return not the_place().organises


def _team() -> str:
    """The team of a participant; never None, which would mean all teams."""
    team = the_place().team
    if team is None:
        raise NotFoundError("You belong to no team in this collection.")
    return team


def _checked(slug: str, form: RunsForm) -> list[CheckedRun]:
    with database().reading() as session:
        return runs.check_runs(
            session,
            slug,
            input_files(form.files.data),
            tag_from_file=form.tag_from_file.data,
            unpacked_limit=settings().unpacked_limit,
        )


def _page(slug: str, form: RunsForm, checked: Sequence[CheckedRun] = ()) -> str:
    with database().reading() as session:
        rows = runs.list_runs(session, slug, team=_team() if _only_own() else None)
    return render_template("runs/list.html", rows=rows, form=form, checked=checked)
