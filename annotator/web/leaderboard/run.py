"""One run: its details, receipts and files, and changes by its team."""

from datetime import UTC, datetime

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage import Role
from annotator.web.people.senders import own_team, sender_state
from annotator.web.runs.runs import DetailsForm
from annotator.web.runs.task_choices import tasks_here
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.downloads import BYTES, ZIP, download, filled, written_response
from annotator.web.site.forms import confirmation, done, is_confirmed
from annotator.web.site.language import format_number, gettext
from annotator.workflows.pools import pools
from annotator.workflows.runs import questionnaires, run_costs, runs, tasks
from annotator.workflows.runs.runs import RunView

blueprint = Blueprint("run", __name__)


@blueprint.get("/collections/<slug>/runs/receipt")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def receipt(slug: str) -> ResponseReturnValue:
    """The receipt of a file (`?tag=`, `&version=`), or of all files submitted at one time (`?at=`)."""
    at = request.args.get("at")
    with database().reading() as session:
        if at is None:
            wanted = [(_tag(), _version())]
        else:
            every = runs.list_runs(session, slug, team=own_team(), every=True)
            wanted = [(run.tag, run.version) for run in every if run.uploaded_at == _moment(at)]
        receipts = [runs.receipt_of(session, slug, tag, version=version, team=own_team()) for tag, version in wanted]
    if not receipts:
        raise NotFoundError("Nothing was submitted at that time.")
    return render_template("runs/receipt.html", receipts=receipts)


@blueprint.get("/collections/<slug>/runs/run")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """One run (`?tag=`) with its warnings and all files submitted for it."""
    run = _run(slug)
    said = {"run_type": run.row.run_type.value, "priority": run.row.priority, "description": run.row.description}
    said["task"] = run.row.task or ""
    return _page(slug, run, DetailsForm(formdata=None, team=run.row.team, **said))


@blueprint.post("/collections/<slug>/runs/run")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def change(slug: str) -> ResponseReturnValue:
    """Change the details of a run; another task after confirmation where that changes released scores."""
    form = DetailsForm()
    present = _run(slug).row.task
    is_asked = False
    if form.validate():
        is_asked = not is_confirmed() and _changes_scores(slug, present, form.details().task)
        with form.guard(), database().transaction(keep=not is_asked) as session:
            _refuse_no_task(present)
            runs.change_run(
                session, slug, _tag(), details=form.details(), at=now(), by_id=the_person().id, team=own_team()
            )
            note(session, "runs.edit", slug, subject=_tag(), details=vars(form.details()))
    if form.refused:
        return _page(slug, _run(slug), form), form.status
    if is_asked:
        return confirmation(
            gettext("Change the task of the run %(tag)s?", tag=_tag()),
            notes=[gettext("Scores are released. They change at once: the run is scored among those of the task.")],
            button=gettext("Save the changes"),
            back=url_for(".show", slug=slug, tag=_tag()),
        )
    return done(gettext("Changes saved."), ".show", slug=slug, tag=_tag())


@blueprint.post("/collections/<slug>/runs/withdraw")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def withdraw(slug: str) -> ResponseReturnValue:
    """Withdraw a run (`?tag=`) from pools and scores after confirmation; its file and pooled documents remain."""
    at, confirmed = now(), is_confirmed()
    with database().transaction(keep=confirmed) as session:
        may_restore = runs.withdraw_run(session, slug, _tag(), at=at, by_id=the_person().id, team=own_team())
        note(session, "runs.withdraw", slug, subject=_tag())
    if not confirmed:
        return _withdrawal_page(slug, may_restore=may_restore)
    message = gettext("Run %(tag)s withdrawn.", tag=_tag())
    if may_restore:
        message = gettext("Run %(tag)s withdrawn. It can be restored.", tag=_tag())
    return done(message, ".show", slug=slug, tag=_tag())


@blueprint.post("/collections/<slug>/runs/restore")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def restore(slug: str) -> ResponseReturnValue:
    """Restore a withdrawn run (`?tag=`)."""
    with database().transaction() as session:
        runs.restore_run(session, slug, _tag(), at=now(), by_id=the_person().id, team=own_team())
        note(session, "runs.restore", slug, subject=_tag())
    return done(gettext("The run %(tag)s is active again.", tag=_tag()), ".show", slug=slug, tag=_tag())


@blueprint.get("/collections/<slug>/runs/files.zip")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def all_files(slug: str) -> ResponseReturnValue:
    """The files of all active runs in a zip archive; participants get those of their team."""
    with database().reading() as session:
        file = filled(lambda stream: runs.write_run_files(session, slug, stream, team=own_team()))
    note_export("runs.export", slug, subject="files.zip")
    return written_response(file, ZIP, f"{slug}-runs.zip")


@blueprint.get("/collections/<slug>/runs/file")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def original(slug: str) -> ResponseReturnValue:
    """The original file of a run (`?tag=`, `&version=`); participants get only those of their team."""
    file = database().read(runs.original_file, slug, _tag(), version=_version(), team=own_team())
    note_export("runs.export", slug, subject=_tag())
    return download(file.content, file.name, BYTES)


def _changes_scores(slug: str, present: str | None, task: str | None) -> bool:
    """Whether the run would get another task where scores are released."""
    return task not in {None, present} and database().read(tasks.are_scores_released, slug)


def _refuse_no_task(present: str | None) -> None:
    """Raise `InvalidValueError` where the form takes the task away from a run that has one."""
    if present is not None and the_place().organises and request.form.get("task") == "":
        raise InvalidValueError("The run is of the task %(task)s, and no run loses its task. Choose one.", task=present)


def _withdrawal_page(slug: str, *, may_restore: bool) -> str:
    figures, notes = {}, [gettext("It is neither pooled nor scored any more; its file is kept.")]
    if the_place().organises:
        with database().reading() as session:
            given = next(
                (run for run in pools.runs_in_pool(session, slug) if run.is_latest and run.tag == _tag()), None
            )
        figures = {
            gettext("Documents contributed to the pool"): format_number(given.items if given else 0),
            gettext("Contributed by it alone"): format_number(given.only if given else 0),
        }
        notes.append(gettext("These documents stay in the pool with their judgements. The run can be restored."))
    elif not may_restore:
        notes.append(gettext("Its round is closed: only the organisers can restore it."))
    else:
        notes.append(gettext("You can restore it until the submission deadline."))
    return confirmation(
        gettext("Withdraw the run %(tag)s?", tag=_tag()),
        figures=figures,
        notes=notes,
        button=gettext("Withdraw"),
        back=url_for(".show", slug=slug, tag=_tag()),
        destroys=True,
    )


def _tag() -> str:
    return request.args.get("tag", "")


def _version() -> int | None:
    """The version in the query string, from 1; malformed input gives a version that does not exist."""
    return (request.args.get("version", type=int) or -1) if "version" in request.args else None


def _moment(text: str) -> datetime | None:
    """The time in the query string, None if malformed."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _run(slug: str) -> RunView:
    return database().read(runs.show_run, slug, _tag(), team=own_team())


def _page(slug: str, run: RunView, form: DetailsForm) -> str:
    with database().reading() as session:
        stated = run_costs.costs_of_run(session, slug, run.row.tag, team=own_team())
        answered = questionnaires.show_answers(session, slug, run.row.tag, team=own_team())
        same = runs.rankings_sent_twice(session, slug).get(run.row.id, ()) if the_place().organises else ()
    about = {"tasks": tasks_here(), "run": run, "same": same, "stated": stated, "answered": answered}
    return render_template("runs/one.html", **about, form=form, sending=sender_state(slug))
