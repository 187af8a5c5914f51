"""Background jobs for slow requests: requests are stored as jobs, and a worker answers them by the same views."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial, wraps
from http import HTTPStatus
from io import SEEK_END, BytesIO
from itertools import chain
from pathlib import PureWindowsPath
from typing import IO, Any, NamedTuple

from flask import Flask, Response, current_app, make_response, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from annotator.errors import BusyError, InvalidValueError, NotFoundError
from annotator.files import InputFile
from annotator.packing import unpack_to_more, unpacked_size
from annotator.settings import MEBIBYTE
from annotator.storage import JobState
from annotator.storage.people.accounts import Person
from annotator.storage.site.jobs import IN_ORDER, KEEPS_FILES, PART_BYTES, SHORT, WAITS, store_job
from annotator.storage.site.upkeep import UpkeepError
from annotator.web.site.addresses import here, local_path
from annotator.web.site.context import database, now, roles_here, the_person, the_place
from annotator.web.site.language import chosen_language, lazy_gettext
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import JobView


class JobKind(NamedTuple):
    """The label of a job, and the unpacked size of files up to which it takes only a few seconds."""

    words: str
    short_up_to: int = -1  # bytes; by default a job is never short
    only_checks: bool = False  # stores nothing, so that its order does not matter
    shown_by: str = ""  # the endpoint of the page that shows an answer in JSON, and may use the files again


OF_RUNS = 16 * MEBIBYTE
OF_TEXTS = 4 * MEBIBYTE
# By the names stored with jobs, which stay when a view moves to another endpoint.
KINDS: Mapping[str, JobKind] = {
    "runs.upload": JobKind(lazy_gettext("Import of runs"), OF_RUNS, shown_by="run_reviews.show"),
    "runs.check": JobKind(lazy_gettext("Check of runs"), OF_RUNS, only_checks=True, shown_by="run_reviews.show"),
    **dict.fromkeys(
        ("run_fetching.fetch", "Runs.fetch_run", "Runs.fetch_from_run_source"),
        JobKind(lazy_gettext("Run from a search engine")),
    ),
    **dict.fromkeys(("runs.store", "Runs.upload_run"), JobKind(lazy_gettext("Import of runs"), OF_RUNS)),
    **dict.fromkeys(("archives.export", "Collections.export_archive"), JobKind(lazy_gettext("Export of the archive"))),
    **dict.fromkeys(("release_kit.publish", "Scores.publish_kit"), JobKind(lazy_gettext("Release kit"))),
    "release_kit.check": JobKind(lazy_gettext("Check of a release kit"), only_checks=True),
    "Scores.check_kit": JobKind(lazy_gettext("Check of a release kit"), only_checks=True),
    **dict.fromkeys(("archives.import", "Collections.import_archive"), JobKind(lazy_gettext("Import of an archive"))),
    "archives.copy": JobKind(lazy_gettext("Copy of the collection")),
    "Runs.check_run": JobKind(lazy_gettext("Check of runs"), OF_RUNS, only_checks=True),
    "Documents.import_documents": JobKind(lazy_gettext("Import of documents"), OF_TEXTS),
    "documents.add": JobKind(lazy_gettext("Import of documents"), OF_TEXTS),
    **dict.fromkeys(
        ("docno_lists.add", "Documents.import_docnos"), JobKind(lazy_gettext("Import of docnos"), OF_TEXTS)
    ),
    **dict.fromkeys(("topics.add", "Topics.import_topics"), JobKind(lazy_gettext("Import of topics"), OF_TEXTS)),
    "first_steps.add_task": JobKind(lazy_gettext("Import of a finished task"), OF_RUNS),
    **dict.fromkeys(("judgements.add", "Judging.import_labels"), JobKind(lazy_gettext("Import of labels"), OF_TEXTS)),
    "Judging.import_gold_questions": JobKind(lazy_gettext("Import of gold questions"), OF_TEXTS),
    "Judging.import_training": JobKind(lazy_gettext("Import of training documents"), OF_TEXTS),
    "click_logs.add": JobKind(lazy_gettext("Import of a click log")),
    "interleaving.make": JobKind(lazy_gettext("Interleaved lists")),
    "report.file": JobKind(lazy_gettext("Report")),
    "judge_effect.show": JobKind(lazy_gettext("Effect of the judges on the ranking")),
    "significance.show": JobKind(lazy_gettext("Significance")),
    "significance.as_csv": JobKind(lazy_gettext("Significance, as CSV")),
    "leave_out.show": JobKind(lazy_gettext("Runs and teams left out")),
    "quality.show": JobKind(lazy_gettext("Collection quality")),
    "pool_simulation.show": JobKind(lazy_gettext("Simulation of strategies")),
    "pool_simulation.replay": JobKind(lazy_gettext("Replay of the adaptive choices")),
    "Agreement.show_effect": JobKind(lazy_gettext("Effect of the judges on the ranking")),
    "Scores.show_significance": JobKind(lazy_gettext("Significance")),
    "Scores.show_leave_out": JobKind(lazy_gettext("Runs and teams left out")),
    "Scores.show_quality": JobKind(lazy_gettext("Collection quality")),
    "Pool.simulate_pool": JobKind(lazy_gettext("Simulation of strategies")),
    "Pool.replay_pool": JobKind(lazy_gettext("Replay of the adaptive choices")),
    "Scores.export_report": JobKind(lazy_gettext("Report")),
    "Clicks.interleave_runs": JobKind(lazy_gettext("Interleaved lists")),
}

# The key in the WSGI environ of a request that a worker answers.
WORK = "annotator.work"
# Larger files go to the worker: this much is read and stored in about a second.
HEAVIEST_AT_ONCE = MEBIBYTE
PERCENT = 100
# A report over more ranked lists goes to the worker.
MOST_LISTS_AT_ONCE = 2_000
# The parameter of a job that an API request started: the id of its token.
TOKEN = "token"  # noqa: S105 - the name of a parameter
TOKEN_FIELD = "csrf_token"  # noqa: S105 - the name of a field
# The placeholder for CSRF tokens in a stored page, replaced by the reader's token when the page is shown.
MARK = "mark"
# Behind the mark in a stored page: replaced by whether the collection has changed since.
STATE_SUFFIX = b"-state"
STATE = "state"
# A job whose result is missing for longer than this lost its worker between storing and reporting.
LONGEST_TO_TELL = timedelta(minutes=1)
JSON = "application/json"

View = Callable[..., ResponseReturnValue]
# The attribute of a view that names the kind of the jobs it leaves to the worker.
JOB_KIND = "job_kind"


@dataclass(frozen=True)
class Work:
    """The job that a view answers in the worker: when it was requested, and how to report progress."""

    asked_at: datetime
    tell: Callable[[int, int], None]  # steps done, and steps in total
    token_id: int | None = None  # the token of an API request


def install(app: Flask) -> None:
    """Offer `computed_at()` to templates: when a page that the worker computes was requested, None for other pages."""
    app.jinja_env.globals["computed_at"] = _computed_at


def _computed_at() -> datetime | None:
    at_work = work()
    return at_work.asked_at if at_work is not None and request.method == "GET" else None


class Watched(list[InputFile]):
    """A list of files that reports how many have been read."""

    def __init__(self, files: Sequence[InputFile], tell: Callable[[int, int], None]) -> None:
        """`tell` gets the number of files read and of steps; storing the files is the last step."""
        super().__init__(files)
        self._tell = tell

    def __iter__(self) -> Iterator[InputFile]:
        """Iterate over the files once."""
        for done, file in enumerate(super().__iter__()):
            self._tell(done, len(self) + 1)
            yield file
        self._tell(len(self), len(self) + 1)


def report_reading(files: Sequence[InputFile]) -> Sequence[InputFile]:
    """The files; in a worker, reading them updates the progress of the job."""
    at_work = work()
    return files if at_work is None else Watched(files, at_work.tell)


def report_percent(total: int) -> Callable[[int], None]:
    """Return a function to call with the size of each piece read, of `total` bytes.

    In a worker, it updates the percentage of the job; the last per cent is for the work after reading.
    """
    at_work, read, reported = work(), 0, 0

    def advance(count: int) -> None:
        nonlocal read, reported
        read += count
        percent = min(PERCENT - 1, PERCENT * read // max(total, 1))
        if at_work is not None and percent > reported:
            reported = percent
            at_work.tell(percent, PERCENT)

    return advance


def work() -> Work | None:
    """The job of this request in a worker; None in the server."""
    found: Work | None = request.environ.get(WORK)
    return found


@contextmanager
def waiting_for_other_imports() -> Iterator[None]:
    """Raise `BusyError` while another archive is being imported, so that a job waits for its turn."""
    try:
        yield
    except UpkeepError as error:
        raise BusyError("Another archive is being imported. Nothing was stored: try again.") from error


def arrived_at() -> datetime:
    """The time at which the request was received, also when a worker answers it later."""
    at_work = work()
    return now() if at_work is None else at_work.asked_at


def long_form(kind: str) -> Callable[[View], View]:
    """Decorate a view within `collection_page` so that large uploads become jobs of this kind."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(slug: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - path parameters
            files = [file.stream for file in request.files.values()]
            if work() is not None or not unpack_to_more(files, HEAVIEST_AT_ONCE):
                return view(slug, **values)
            return leave_form(slug)

        setattr(guarded, JOB_KIND, kind)
        return guarded

    return decorate


def leave_form(slug: str | None, files: Sequence[IO[bytes]] = ()) -> ResponseReturnValue:
    """Leave this form to the worker, and redirect to its job, of the site without a `slug`.

    `files` are those that it will read besides its own.
    """
    id_ = _ask(slug, request.full_path.rstrip("?"), list(request.form.items(multi=True)), files)
    to = url_for("jobs.show", slug=slug, id_=id_) if slug is not None else url_for("site_jobs.show", id_=id_)
    return redirect(to, 303)


@dataclass(frozen=True)
class KeptForm:
    """A form whose answer and files are kept: its fields, its files, and the answer in JSON."""

    id: int
    fields: MultiDict[str, str]
    files: list[InputFile]
    answer: Any
    status: int

    @property
    def is_heavy(self) -> bool:
        """Whether its files are too large to be read at once."""
        return unpack_to_more([BytesIO(file.content) for file in self.files], HEAVIEST_AT_ONCE)


def keep_form(answer: object, *, status: int) -> Response:
    """In a worker: the answer in JSON, which the job keeps with its files for the page that shows both."""
    return make_response(json.dumps(answer), status, {"Content-Type": JSON})


def keep_form_here(slug: str, answer: object, *, status: int) -> int:
    """Keep this form with its files and this answer as a finished job, and return its id.

    The job has not failed, whatever the status of its answer.
    """
    parameters, streams = _form_parameters(request.full_path.rstrip("?"), list(request.form.items(multi=True)))
    result: dict[str, object] = {"status": status, "location": None, "said": [], "type": JSON, "file": None, MARK: ""}
    ended = {"state": JobState.DONE, "finished_at": now(), "result": result, "output": json.dumps(answer).encode()}
    return _keep(slug, {**parameters, KEEPS_FILES: True}, the_person(), streams, values=ended)


def kept_form(slug: str, id_: int) -> KeptForm:
    """A form that was kept, for the person who sent it; raises `NotFoundError` when its files are gone."""
    with database().reading() as session:
        job = jobs.show_job(session, slug, id_, by_id=the_person().id)
        content = jobs.file_of_job(session, slug, id_, by_id=the_person().id)
        may_read = the_place().roles.issuperset(job.parameters["roles"])
        # The form itself may have been refused, with a page.
        has_rows = job.parameters.get(KEEPS_FILES) and job.result.get("type") == JSON
        if not content or not has_rows or not may_read:
            raise NotFoundError("These files are no longer kept. Choose them again.")
        answer = json.loads(jobs.job_answer(session, slug, id_, by_id=the_person().id))
    files, begin = [], 0
    for _, name, _, size in job.parameters["files"]:
        files.append(InputFile(PureWindowsPath(name or "").name or "file", content[begin : begin + size]))
        begin += size
    return KeptForm(
        id_, MultiDict([(name, value) for name, value in job.parameters["fields"]]), files, answer, job.result["status"]
    )


def ask_call(slug: str | None, content: bytes, files: Sequence[bytes], *, by: Person, token_id: int) -> int:
    """Store an API request with its `files` as a job, and return the job's id.

    The worker answers it as if it arrived then.
    """
    parameters = _call_parameters("POST", by, token_id)
    marked = {**parameters, **marks(_kind(parameters), [BytesIO(file) for file in files])}
    return _keep(slug, marked, by, [BytesIO(content)])


def ask_read(slug: str, *, by: Person, token_id: int) -> int:
    """Store an API request that only reads as a job, and return the job's id; its answer may be given again."""
    parameters = {**_call_parameters("GET", by, token_id), STATE: database().read(jobs.collection_state, slug)}
    return _keep(slug, {**parameters, **marks(_kind(parameters), [])}, by, [])


def _call_parameters(method: str, by: Person, token_id: int) -> dict[str, Any]:
    return {
        **_surroundings(request.full_path.rstrip("?"), method, by),
        TOKEN: token_id,
        "content_type": request.content_type or "application/octet-stream",
    }


def long_page(
    kind: str, most_lists: int | None = None, *, is_long: Callable[[str], bool] | None = None
) -> Callable[[View], View]:
    """Decorate a page within `collection_page` so that it becomes a job of this kind when the collection is large.

    `most_lists` are the ranked lists up to which a page that computes more for each is made at once. A page whose time
    depends on something else has `is_long`, which is called with the collection's short name.

    The job starts by itself and shows its progress. Its result is then at the same address: a page until the reader
    asks for another, a file until the collection changes. An earlier result is at `?job=`.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(slug: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - path parameters
            if work() is not None:
                return view(slug, **values)
            if id_ := request.args.get("job", type=int):
                return kept_answer(slug, id_)
            if not (is_long(slug) if is_long is not None else _has_many_lists(slug, most_lists)):
                return view(slug, **values)
            with database().reading() as session:
                last = jobs.last_answer(session, slug, by_id=the_person().id, **request_key())
                state = jobs.collection_state(session, slug)
            if last is not None and _is_shown(last, state):
                return kept_answer(slug, last.id)
            id_ = last.id if last is not None and is_under_way(last) else _ask(slug, here(), None)
            return redirect(url_for("jobs.show", slug=slug, id_=id_), 303)

        setattr(guarded, JOB_KIND, kind)
        return guarded

    return decorate


def _has_many_lists(slug: str, most: int | None) -> bool:
    return database().read(jobs.count_ranked_lists, slug) > min(most or MOST_LISTS_AT_ONCE, MOST_LISTS_AT_ONCE)


def request_key() -> dict[str, Any]:
    """What a stored answer must have been requested with to be shown: the address, the language and the roles."""
    return {"target": here(), "language": chosen_language(), "roles": sorted(the_place().roles)}


def is_under_way(job: JobView) -> bool:
    """Whether a job has no result yet: the worker stores the data first and the result a moment later."""
    is_untold = job.state is JobState.DONE and "status" not in job.result
    return not job.finished or (is_untold and job.finished_at is not None and now() - job.finished_at < LONGEST_TO_TELL)


def _is_shown(last: JobView, state: str) -> bool:
    """Whether the last answer is shown: a page also after the collection has changed, a file or refusal only before."""
    result = last.result
    if "status" not in result:
        return False
    is_page = result["status"] < HTTPStatus.BAD_REQUEST and not result["file"]
    return is_page or last.parameters.get(STATE) == state


def ask_for_page(slug: str, target: str) -> int:
    """Start a job for a long page of this collection and return its id; `InvalidValueError` for other pages."""
    if not _is_long_page(slug, target):
        raise InvalidValueError("The page “%(page)s” is not computed in the background.", page=target)
    return _ask(slug, target, None)


def kept_answer(slug: str | None, id_: int) -> ResponseReturnValue:
    """The worker's response, for the person who requested it; of a job of the site without a `slug`.

    Raises `NotFoundError` for other people, or if the person has lost a role in the collection since.
    """
    with database().reading() as session:
        job = jobs.show_job(session, slug, id_, by_id=the_person().id)
        if not roles_here().issuperset(job.parameters["roles"]):
            raise NotFoundError("There is no such job.")
        content = jobs.job_answer(session, slug, id_, by_id=the_person().id)
        is_fresh = slug is None or job.parameters.get(STATE) == jobs.collection_state(session, slug)
    if job.result["type"].startswith("text/html"):
        mark = job.result[MARK].encode()
        content = content.replace(mark + STATE_SUFFIX, b"fresh" if is_fresh else b"changed")
        content = content.replace(mark, generate_csrf().encode())
    answer = make_response(content, job.result["status"])
    answer.headers["Content-Type"] = job.result["type"]
    if job.result["file"]:
        answer.headers["Content-Disposition"] = job.result["file"]
    return answer


def _ask(
    slug: str | None, target: str, fields: list[tuple[str, str]] | None, other_files: Sequence[IO[bytes]] = ()
) -> int:
    """Store this request, or a GET request for `target` without fields, as a job."""
    parameters, streams = _form_parameters(target, fields)
    if fields is None and slug is not None:
        parameters[STATE] = database().read(jobs.collection_state, slug)
    marked = {**parameters, **marks(_kind(parameters), [*streams, *other_files])}
    return _keep(slug, marked, the_person(), streams)


def _form_parameters(target: str, fields: list[tuple[str, str]] | None) -> tuple[dict[str, Any], list[IO[bytes]]]:
    """What the worker needs to repeat this request, and its files."""
    is_form = fields is not None
    files = list(request.files.items(multi=True)) if is_form else []
    parameters = {
        **_surroundings(target, "POST" if is_form else "GET", the_person()),
        "fields": [[name, value] for name, value in fields or () if name != TOKEN_FIELD],
        "files": [[name, file.filename, file.content_type, file.stream.seek(0, SEEK_END)] for name, file in files],
    }
    return parameters, [file.stream for _, file in files]


def _surroundings(target: str, method: str, person: Person) -> dict[str, Any]:
    """The context in which the worker calls the view later."""
    return {
        "method": method,
        "target": target,
        "site": request.host_url,
        "back": request.referrer,
        "language": chosen_language(),
        "generation": person.generation,
        "roles": sorted(roles_here()),
    }


def _keep(
    slug: str | None,
    parameters: dict[str, Any],
    by: Person,
    files: Sequence[IO[bytes]],
    *,
    values: Mapping[str, object] = WAITS,
) -> int:
    """Store a request as a job, with its files if any; `values` as in `store_job`."""
    ask = partial(
        jobs.ask_job,
        slug=slug,
        kind=_kind(parameters),
        parameters=parameters,
        by_id=by.id,
        at=now(),
        has_file=bool(files),
    )
    if not files:
        return database().attempt(ask)
    return store_job(database(), ask, chain.from_iterable(_parts(file) for file in files), values=values)


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    return iter(partial(file.read, PART_BYTES), b"")


def _kind(parameters: dict[str, Any]) -> str:
    """The kind of a stored request: that of its view, or for an API request the operation's name."""
    endpoint, _ = _matched(parameters["target"], parameters["method"])
    return str(getattr(current_app.view_functions[endpoint], JOB_KIND, endpoint))


def _is_long_page(slug: str, target: str) -> bool:
    if local_path(target) is None:
        return False
    try:
        endpoint, values = _matched(target, "GET")
    except (HTTPException, RequestRedirect):
        return False
    # Views for submitted forms do not match GET.
    return hasattr(current_app.view_functions[endpoint], JOB_KIND) and values.get("slug") == slug


def page_endpoint(job: JobView) -> str | None:
    """The endpoint of the page that a job computes; None for an import, an API request and a page that is gone."""
    is_page = job.parameters["method"] == "GET" and TOKEN not in job.parameters
    try:
        return _matched(job.parameters["target"], "GET")[0] if is_page else None
    except (HTTPException, RequestRedirect):
        return None


def _matched(target: str, method: str) -> tuple[str, Mapping[str, Any]]:
    """The endpoint and path parameters of an address of this site."""
    endpoint, values = current_app.url_map.bind("").match(target.partition("?")[0], method=method)
    return str(endpoint), values


def marks(kind: str, files: Sequence[IO[bytes]]) -> dict[str, bool]:
    """The flags of a job's length and order; a page, which has no files, does not depend on order."""
    known = KINDS.get(kind, JobKind(kind))
    short = known.short_up_to >= 0 and _size(files, known.short_up_to) <= known.short_up_to
    flags = ((SHORT, short), (IN_ORDER, files and not known.only_checks), (KEEPS_FILES, files and known.shown_by))
    return {mark: True for mark, applies in flags if applies}


def _size(files: Sequence[IO[bytes]], most: int) -> int:
    """The unpacked size of all files, counted up to slightly more than `most`."""
    size = 0
    for file in files:
        size += unpacked_size(file, most - size)
        if size > most:
            break
    return size
