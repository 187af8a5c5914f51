"""The first hour of a collection: a guided path from its topics to its first results, which can be left and resumed.

Each step stores what it is given like the page of its own; the state of the path is that of the collection.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField
from wtforms import TextAreaField
from wtforms.validators import InputRequired, NumberRange

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Role
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.web.people.links import link_to
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import actor, note
from annotator.web.site.background import arrived_at, long_form
from annotator.web.site.context import database, now, settings, the_person, the_place
from annotator.web.site.forms import Form, WholeNumberField, done
from annotator.web.site.input_formats import format_field, report_formats
from annotator.web.site.labels import RUNS
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.memories import plan_memory, score_cache
from annotator.web.site.uploads import input_files, names_of
from annotator.workflows.collections.collection import CollectionCounts, count_collection
from annotator.workflows.documents import documents
from annotator.workflows.leaderboard.compared_runs import JUDGED_BESIDE, ComparedScores, compare_on_board
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.task_import import import_task, read_result_lists
from annotator.workflows.people import invitations, members
from annotator.workflows.people.invitations import USUAL_DAYS, InvitationRequest
from annotator.workflows.pools import pool_building
from annotator.workflows.pools.pool_planning import PoolPlan, plan_pool
from annotator.workflows.runs import run_upload
from annotator.workflows.runs.run_upload import Submission
from annotator.workflows.runs.scoring_scope import scope_choices
from annotator.workflows.topics import topics

blueprint = Blueprint("first_steps", __name__)

FIRST_DEPTH = 5
DEEPEST = 1_000
# The depths in the picture; the requested one is always among them.
DRAWN = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100)


class TopicsForm(Form):
    """Topics, pasted or as files."""

    text = TextAreaField(
        lazy_gettext("Queries"),
        description=lazy_gettext(
            "One query per line, or lines of number, tab, query. New queries are numbered on from the last topic."
        ),
        render_kw={"rows": 10},
    )
    files = MultipleFileField(
        lazy_gettext("Or files of topics"),
        description=lazy_gettext(
            "CSV with a heading such as “number,query”, TREC SGML or XML, JSON lines; also gzipped."
        ),
    )
    input_format = format_field(Holds.TOPICS, lazy_gettext("Format of the files"))

    def pasted(self, slug: str) -> list[InputFile]:
        """The pasted text as a file, if there is one."""
        text = self.text.data or ""
        return [database().read(topics.pasted_topics, slug, gettext("pasted"), text)] if text.strip() else []

    def chosen(self) -> Sequence[InputFile]:
        """The files of topics."""
        return input_files([file for file in self.files.data or [] if file], self.input_format.data)


class RunsForm(Form):
    """Result lists, with the texts of their documents if there are any."""

    files = MultipleFileField(
        lazy_gettext("Result lists"),
        [FileRequired()],
        description=lazy_gettext(
            "One file per system: runs in TREC format (topic, Q0, docno, rank, score, tag), or CSV with a heading "
            "such as “query,document,rank”, named after its file. Also gzipped."
        ),
    )
    input_format = format_field(Holds.RUNS, lazy_gettext("Format of the result lists"))
    texts = MultipleFileField(
        lazy_gettext("Texts of the documents"),
        description=lazy_gettext(
            "Optional: JSON lines with docno, title and body. Judges read them; they can follow later."
        ),
    )
    texts_format = format_field(Holds.DOCUMENTS, lazy_gettext("Format of the texts"))

    def result_lists(self, slug: str) -> Sequence[InputFile]:
        """The result lists as runs."""
        files = input_files(self.files.data, self.input_format.data)
        return database().read(read_result_lists, slug, files, unpacked_limit=settings().unpacked_limit)

    def documents(self) -> Sequence[InputFile]:
        """The files of texts."""
        return input_files([file for file in self.texts.data or [] if file], self.texts_format.data)


class TaskForm(Form):
    """The files of a finished task."""

    files = MultipleFileField(
        lazy_gettext("Topics, qrels and runs"),
        [FileRequired()],
        description=lazy_gettext(
            "All files at once, in any order, or as a zip archive. Topics, qrels and runs are recognised by their "
            "content."
        ),
    )


class DepthForm(Form):
    """The depth of the pool."""

    depth = WholeNumberField(
        lazy_gettext("Depth"), [InputRequired(), NumberRange(1, DEEPEST)], render_kw={"min": 1, "max": DEEPEST}
    )


@dataclass(frozen=True)
class PathStep:
    """A step of the path, whether it is done, and whether its page is shown."""

    words: str
    endpoint: str
    done: bool
    here: bool


def path_of(counts: CollectionCounts, judges: int, endpoint: str) -> list[PathStep]:
    """The steps in order; `endpoint` is that of the page."""
    steps = (
        (gettext("What you have"), "collection.settings", True),
        (gettext("Topics"), "first_steps.topics", counts.topics > 0),
        (RUNS[the_place().collection.kind], "first_steps.runs", counts.runs > 0),
        (gettext("Pool"), "first_steps.pool", counts.pool_items > 0),
        (gettext("Judges"), "first_steps.judges", judges > 0 or counts.judgements > 0),
        (gettext("First results"), "first_steps.results", counts.runs > 0 and counts.judgements > 0),
    )
    return [PathStep(words, to, is_done, to == endpoint) for words, to, is_done in steps]


@blueprint.get("/collections/<slug>/start")
@collection_page(Role.ORGANISER)
def resume(slug: str) -> ResponseReturnValue:
    """Redirect to the first step that is open, or to the results."""
    steps = path_of(*_counts(slug), "")
    return redirect(url_for(next((one.endpoint for one in steps if not one.done), steps[-1].endpoint), slug=slug), 303)


@blueprint.get("/collections/<slug>/start/topics", endpoint="topics")
@collection_page(Role.ORGANISER)
def topics_page(slug: str) -> ResponseReturnValue:
    """Paste queries or choose files of topics."""
    return _page(slug, "topics", form=TopicsForm())


@blueprint.post("/collections/<slug>/start/topics")
@collection_page(Role.ORGANISER)
@long_form("topics.add")
def add_topics(slug: str) -> ResponseReturnValue:
    """Import the topics and go on to the runs."""
    form = TopicsForm()
    if form.validate():
        with form.guard():
            pasted, files = form.pasted(slug), form.chosen()
            if not pasted and not files:
                raise InvalidValueError("Paste queries, or choose a file of topics.")
            read = topics.read_topics([*pasted, *files], unpacked_limit=settings().unpacked_limit)
            with database().transaction() as session:
                stored = topics.import_topics(session, slug, read, most=settings().topic_limit)
                note(session, "topics.import", slug, subject=names_of(form.files.data or []), details=vars(stored))
    if form.refused:
        return _page(slug, "topics", form=form), form.status
    report_formats(Holds.TOPICS, files)
    return done(gettext("Topics stored: %(count)d.", count=len(read)), ".runs", slug=slug)


@blueprint.get("/collections/<slug>/start/runs", endpoint="runs")
@collection_page(Role.ORGANISER)
def runs_page(slug: str) -> ResponseReturnValue:
    """Drop the result lists."""
    return _page(slug, "runs", form=RunsForm())


@blueprint.post("/collections/<slug>/start/runs")
@collection_page(Role.ORGANISER)
@long_form("runs.upload")
def add_runs(slug: str) -> ResponseReturnValue:
    """Store the runs of all files or of none, and go on to the pool."""
    form, sent_at = RunsForm(), arrived_at()
    if form.validate():
        with form.guard():
            files, texts = form.result_lists(slug), form.documents()
            read = documents.read_documents(texts, fields={}, unpacked_limit=settings().unpacked_limit)
            stored = run_upload.upload(
                database(),
                slug,
                files,
                Submission(Sender(None, organises=True, replaces=False), RunDetails()),
                actor=actor(),
                at=sent_at,
                noted_at=now(),
                unpacked_limit=settings().unpacked_limit,
            )
            if read:
                with database().transaction() as session:
                    found = documents.import_documents(session, slug, read, at=now())
                    note(session, "documents.import", slug, subject=names_of(form.texts.data), details=vars(found))
    if form.refused:
        return _page(slug, "runs", form=form), form.status
    report_formats(Holds.RUNS, [run.file for run in stored.runs])
    report_formats(Holds.DOCUMENTS, texts)
    return done(gettext("Result lists stored: %(count)d.", count=len(stored.runs)), ".pool", slug=slug)


@blueprint.get("/collections/<slug>/start/task")
@collection_page(Role.ORGANISER)
def task(slug: str) -> ResponseReturnValue:
    """Drop the files of a finished task."""
    return _page(slug, "task", form=TaskForm())


@blueprint.post("/collections/<slug>/start/task")
@collection_page(Role.ORGANISER)
@long_form("first_steps.add_task")
def add_task(slug: str) -> ResponseReturnValue:
    """Store topics, runs and qrels, all or nothing, and show the leaderboard."""
    form = TaskForm()
    if form.validate():
        with form.guard():
            stored = import_task(
                database(),
                slug,
                input_files(form.files.data),
                actor=actor(),
                at=arrived_at(),
                unpacked_limit=settings().unpacked_limit,
                most_topics=settings().topic_limit,
            )
    if form.refused:
        return _page(slug, "task", form=form), form.status
    sentence = gettext(
        "Stored: %(topics)d topics, %(runs)d runs, %(judgements)d judgements.",
        topics=stored.topics,
        runs=stored.runs,
        judgements=stored.judgements,
    )
    to = "leaderboard.show" if stored.runs and stored.judgements else ".results" if stored.judgements else ".resume"
    return done(sentence, to, slug=slug)


@blueprint.get("/collections/<slug>/start/pool")
@collection_page(Role.ORGANISER)
def pool(slug: str) -> ResponseReturnValue:
    """What a pool of a small depth costs (`?depth=5`), and what others cost."""
    form = DepthForm(request.args, meta={"csrf": False}) if "depth" in request.args else DepthForm(depth=FIRST_DEPTH)
    if "depth" in request.args and not form.validate():
        return _pool_page(slug, form, None), form.status
    return _pool_page(slug, form, _plan(slug, form))


@blueprint.post("/collections/<slug>/start/pool")
@collection_page(Role.ORGANISER)
def build_pool(slug: str) -> ResponseReturnValue:
    """Build the pool and go on to the judges."""
    form = DepthForm()
    if form.validate():
        with form.guard():
            choice = database().read(pool_building.choose_pool, slug, _request(form.depth.data))
            with database().transaction() as session:
                built = pool_building.store_pool(session, slug, choice, built_by_id=the_person().id, built_at=now())
                details = {"strategy": "depth", "depth": form.depth.data, "added": built.added}
                note(session, "pool.build", slug, subject=built.version, details=details)
    if form.refused:
        return _pool_page(slug, form, None), form.status
    return done(
        gettext("Documents in the pool: %(count)d.", count=built.added + built.already_pooled), ".judges", slug=slug
    )


@blueprint.get("/collections/<slug>/start/judges")
@collection_page(Role.ORGANISER)
def judges(slug: str) -> ResponseReturnValue:
    """Judge oneself, or create links for others."""
    return _page(slug, "judges", form=Form(), link=None)


@blueprint.post("/collections/<slug>/start/judges/me")
@collection_page(Role.ORGANISER)
def judge_myself(slug: str) -> ResponseReturnValue:
    """Give the organiser the role of a judge, and go on to judging."""
    if not the_place().judges:
        with database().transaction() as session:
            members.add_member(session, slug, the_person().name, Role.JUDGE, added_at=now())
            note(session, "members.add", slug, subject=the_person().name, details={"role": Role.JUDGE})
    return redirect(url_for("judging.topics", slug=slug), 303)


@blueprint.post("/collections/<slug>/start/judges/link")
@collection_page(Role.ORGANISER)
def link_for_judge(slug: str) -> ResponseReturnValue:
    """Create a link for one judge and show it, only once."""
    form, made = Form(), None
    with form.guard(), database().transaction() as session:
        wanted = InvitationRequest(Role.JUDGE, None, "", USUAL_DAYS)
        made = invitations.invite(session, slug, wanted, made_by_id=the_person().id, at=now())
        note(session, "invitations.add", slug, subject=made.number, details={"role": Role.JUDGE, "team": None})
    page = _page(slug, "judges", form=form, link=link_to(made.secret) if made else None)
    return (page, form.status) if form.refused else page


@blueprint.get("/collections/<slug>/start/results")
@collection_page(Role.ORGANISER)
def results(slug: str) -> ResponseReturnValue:
    """The two best runs: which leads, whether that is significant, and on which topics."""
    titles = {row.number: row.title for row in database().read(topics.list_topics, slug)}
    return _page(slug, "results", found=_best_two(slug), titles=titles)


def _request(depth: int) -> PoolRequest:
    return PoolRequest(strategy="depth", said={"depth": depth})


def _plan(slug: str, form: DepthForm) -> PoolPlan | None:
    """The plan, None without runs or topics."""
    try:
        return database().read(plan_pool, slug, _request(form.depth.data), memory=plan_memory())
    except ConflictError:
        return None


def _best_two(slug: str) -> ComparedScores | None:
    """The comparison of the two best runs, of the first task with two if there are several.

    None while nothing can be scored, or with one run.
    """
    tasks = [task.key for task in database().read(scope_choices, slug).tasks]
    if not tasks:
        return _best_two_of(slug, None)
    return next(filter(None, (_best_two_of(slug, task) for task in tasks)), None)


def _best_two_of(slug: str, task: str | None) -> ComparedScores | None:
    try:
        board = database().read(
            build_leaderboard, slug, [USUAL_MEASURE, JUDGED_BESIDE], grades=GradesFrom(task=task), cache=score_cache()
        )
        if len(board.rows) < 2:  # noqa: PLR2004 - a comparison has two sides
            return None
        second, first = (row.tag for row in board.rows[:2])
        # The page shows no randomisation test.
        return compare_on_board(board, first, second, flips=1)
    except ConflictError:
        return None


def _counts(slug: str) -> tuple[CollectionCounts, int]:
    """What the collection has, and its judges."""
    with database().reading() as session:
        judging = sum(member.role == Role.JUDGE for member in members.list_members(session, slug))
        return count_collection(session, slug), judging


def _pool_page(slug: str, form: DepthForm, plan: PoolPlan | None) -> str:
    drawn = [at for at, depth in enumerate(plan.amounts) if depth in DRAWN or at == plan.asked] if plan else []
    return _page(slug, "pool", form=form, plan=plan, depths=drawn)


def _page(slug: str, name: str, **values: object) -> str:
    counts, judging = _counts(slug)
    return render_template(
        f"leaderboard/first_steps/{name}.html",
        path=path_of(counts, judging, f"first_steps.{name}"),
        counts=counts,
        judging=judging,
        upload_limit=settings().upload_limit,
        **values,
    )
