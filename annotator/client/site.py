"""An HTTP client of a site's API: typed, with retries, waiting for jobs; the remote commands use it, too."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from pathlib import Path
from time import sleep as pause
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import httpx

from annotator.errors import AnnotatorError, FileRefusedError, InvalidValueError, Problem, Problems, Sentence
from annotator.files import InputFile

ROOT = "/api/v1"
PROBLEM = "application/problem+json"
OCTETS = "application/octet-stream"
ACCEPTED, TOO_MANY, BUSY = 202, 429, 503
# Answers of a proxy whose site may have stored what was sent all the same.
GATEWAY = frozenset({502, 504})
# Answers after which a request is repeated, with the key under which the site carries it out once.
PASSING = GATEWAY | {TOO_MANY, BUSY}
# The connection broke while the request was sent or answered.
BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
DONE = "done"
FINISHED = (DONE, "failed", "cancelled")
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS = 600.0  # a large run is read before the response comes
TRIES = 3
LONGEST_PAUSE = 60.0
PAGE = 1_000
NO_LINE = "%(said)s"

Progress = Callable[[int, int], None]  # steps done, all steps
# Shows the work on a file, by its name, while the block lasts.
Watch = Callable[[str], AbstractContextManager[Progress | None]]
# A file to send: its path, or what it is called and its content.
Sent = str | PathLike[str] | InputFile


class SiteError(AnnotatorError):
    """The site cannot be reached, or refused the request."""

    status: int | None = None  # of a refusal by the site


class Site:
    """A site, by its address and a token of an account, which decides what it may do.

    Refusals are raised with the site's own message, as `SiteError`, and as `FileRefusedError` with every problem of a
    file. A busy site (429, 503) is asked again after the time that it names, and a request whose answer was lost is
    sent again under the same key, so that the site carries it out once. A context manager, which closes the
    connections.

        with Site("https://annotator.example.org", token) as site:
            receipt = site.submit_run("news", "ours.run")
    """

    def __init__(
        self,
        address: str,
        token: str | None,
        *,
        client: httpx.Client | None = None,
        watch: Watch | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """Take the address as a browser shows it; a `client` has a transport or timeouts of one's own.

        `seconds` is how long a step of a request may take. `watch` opens what shows the progress of the site's work
        on a large file. Raises `InvalidValueError` when there is no token, or the address is none of a site.
        """
        if not token:
            raise InvalidValueError(
                "The site wants a token: give --token or ANNOTATOR_TOKEN. It is made on your account's page there."
            )
        if not address.startswith(("https://", "http://")):
            raise InvalidValueError("“%(address)s” is no address of a site: https://…", address=address)
        self._watch: Watch = watch or (lambda _: nullcontext())
        self._client = client or httpx.Client(timeout=seconds, transport=httpx.HTTPTransport(retries=TRIES))
        self._client.base_url = httpx.URL(address.rstrip("/") + ROOT)
        self._client.headers["Authorization"] = f"Bearer {token}"

    def __enter__(self) -> Self:
        """Return the site."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def collections(self) -> list[dict[str, Any]]:
        """Return the collections that the account sees."""
        return self.every("/collections")

    def check_run(self, slug: str, file: Sent) -> dict[str, Any]:
        """Check a run without storing it; returns its figures and warnings."""
        found: dict[str, Any] = self.send(f"/collections/{slug}/runs/check", file)
        return found

    def submit_run(self, slug: str, file: Sent, **details: object) -> dict[str, Any]:
        """Submit a run; returns its receipt. Details are those of the API, such as `description` and `priority`."""
        receipt: dict[str, Any] = self.send(f"/collections/{slug}/runs", file, **details)
        return receipt

    def runs(self, slug: str) -> list[dict[str, Any]]:
        """Return the runs that the account sees."""
        return self.every(f"/collections/{slug}/runs")

    def run_file(self, slug: str, tag: str) -> bytes:
        """Return a run as a file in TREC format."""
        return self.content(f"/collections/{slug}/runs/{in_path(tag)}/file")

    def qrels(self, slug: str, *, version: int | None = None) -> bytes:
        """Return qrels as a file: the live ones, or a kept version."""
        return self.content(f"/collections/{slug}/qrels", version=version)

    def leaderboard(self, slug: str, *, measures: Sequence[str] = (), **options: object) -> dict[str, Any]:
        """Return the leaderboard with the scores of each run; options are those of the API."""
        board: dict[str, Any] = self.get(f"/collections/{slug}/leaderboard", m=list(measures), **options)
        return board

    def topics_to_judge(self, slug: str) -> list[dict[str, Any]]:
        """Return the topics with documents for this judge, and how many wait."""
        return self.every(f"/collections/{slug}/judging")

    def draw(self, slug: str, topic: str) -> dict[str, Any]:
        """Draw documents of a topic to judge: the topic, and its documents with their texts."""
        drawn: dict[str, Any] = self.post(f"/collections/{slug}/judging/documents", {"topic": topic})
        return drawn

    def judge(self, slug: str, judgements: Sequence[Mapping[str, object]]) -> dict[str, Any]:
        """Send judgements, each with an id of one's own, which stores it once however often it is sent.

        Returns the ids that are stored, and those that were refused with the reason.
        """
        stored: dict[str, Any] = self.post(f"/collections/{slug}/judgements", {"judgements": list(judgements)})
        return stored

    def archive(self, slug: str, **options: object) -> bytes:
        """Return everything of a collection as a zip file, once its job has written it; `send` it to `/archives`.

        Options are those of the API: `pseudonyms`, and `format="beir"` for a BEIR folder.
        """
        job = self._ended(self._call("POST", f"/collections/{slug}/archive", {}, json=options), slug)
        if job["state"] != DONE:
            raise SiteError("The archive of “%(slug)s” was cancelled on the site.", slug=slug)
        return self.content(f"/collections/{slug}/jobs/{job['number']}/file")

    def kit(self, slug: str, **options: object) -> bytes:
        """Return the release kit of a collection as a zip file, once its job has written it.

        Options are those of the API, such as `version`, `veiled` and `measures`.
        """
        job = self._ended(self._call("POST", f"/collections/{slug}/kit", {}, json=options), slug)
        if job["state"] != DONE:
            raise SiteError("The kit of “%(slug)s” was cancelled on the site.", slug=slug)
        return self.content(f"/collections/{slug}/jobs/{job['number']}/file")

    def check_kit(self, slug: str, file: Sent) -> dict[str, Any]:
        """Compare a kit, a zip file, with what the site would write now; returns how many files were compared.

        Raises `FileRefusedError` that names what differs.
        """
        found: dict[str, Any] = self.send(f"/collections/{slug}/kit/checks", file)
        return found

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - JSON
        """GET a resource as JSON; for a long report, wait for its job."""
        return self._read(path, query).json()

    def every(self, path: str, **query: object) -> list[Any]:
        """GET all pages of a list."""
        return [row for page in self._pages(path, query) for row in page]

    def content(self, path: str, **query: object) -> bytes:
        """GET a resource as bytes; for a long report, wait for its job."""
        return self._read(path, query).content

    def post(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """POST JSON and return the JSON response."""
        return self._call("POST", path, {}, json=body).json()

    def put(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """PUT JSON and return the JSON response."""
        return self._call("PUT", path, {}, json=body).json()

    def patch(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """PATCH with JSON and return the JSON response."""
        return self._call("PATCH", path, {}, json=body).json()

    def send(self, path: str, file: Sent, **query: object) -> Any:  # noqa: ANN401 - JSON
        """POST a file as the body and return the JSON response; for a large file, wait for its job."""
        sent = file if isinstance(file, InputFile) else InputFile(Path(file).name, Path(file).read_bytes())
        headers = {"Content-Type": OCTETS}
        answer = self._call("POST", path, {"name": sent.name, **query}, content=sent.content, headers=headers)
        return self._finished(answer, sent.name) if answer.status_code == ACCEPTED else answer.json()

    def send_form(self, path: str, files: Sequence[tuple[str, InputFile]], **query: object) -> Any:  # noqa: ANN401 - JSON
        """POST files as parts of a form and return the JSON response; for large files, wait for their job."""
        parts = [(part, (file.name, file.content, OCTETS)) for part, file in files]
        answer = self._call("POST", path, query, files=parts)
        return self._finished(answer, files[0][1].name) if answer.status_code == ACCEPTED else answer.json()

    def delete(self, path: str, **query: object) -> Any:  # noqa: ANN401 - JSON
        """DELETE a resource and return the JSON response."""
        return self._call("DELETE", path, query).json()

    def _finished(self, accepted: httpx.Response, name: str) -> Any:  # noqa: ANN401 - JSON
        """Wait for the job of a file and return its result."""
        job = self._ended(accepted, name)
        if job["state"] != DONE:
            raise SiteError("The import of “%(file)s” was called off on the site. Nothing was stored.", file=name)
        if job["result"] is None:
            raise SiteError("“%(file)s” is stored on the site, but what came of it was lost: look there.", file=name)
        return job["result"]

    def _read(self, path: str, query: Mapping[str, object]) -> httpx.Response:
        """GET; a long report is there once its job has finished, unless the collection changes meanwhile."""
        while (answer := self._call("GET", path, query)).status_code == ACCEPTED:
            if self._ended(answer, path)["state"] != DONE:
                raise SiteError("The report “%(address)s” was cancelled on the site.", address=path)
        return answer

    def _ended(self, accepted: httpx.Response, name: str) -> Any:  # noqa: ANN401 - JSON
        """Wait for a job and return it; its refusal is raised."""
        # The address is as the site sees it; when a proxy adds a path prefix, only its end is valid here.
        path = accepted.headers["Location"].partition(ROOT)[2]
        with self._watch(name) as show:
            while (job := self.get(path))["state"] not in FINISHED:
                if show is not None:
                    show(job["steps_done"], job["steps"] or 1)
                pause(SECONDS_BETWEEN_LOOKS)
        if job["problem"] is not None:
            raise _refused(job["problem"])
        return job

    def _pages(self, path: str, query: Mapping[str, object]) -> Iterator[list[Any]]:
        page = 1
        while True:
            rows: list[Any] = self.get(path, **query, page=page, page_size=PAGE)
            yield rows
            if len(rows) < PAGE:
                return
            page += 1

    def _call(self, method: str, path: str, query: Mapping[str, object], **more: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        asked = tuple((name, text) for name, value in query.items() for text in _written(value))
        # The same for all tries of one call, so that the site stores what it gets twice once.
        headers = {**more.pop("headers", {}), "Idempotency-Key": uuid4().hex}
        for left in reversed(range(TRIES)):
            try:
                answer = self._client.request(method, path, params=asked, headers=headers, **more)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if left and isinstance(error, BROKEN):
                    pause(SECONDS_BETWEEN_LOOKS)
                    continue
                raise SiteError(
                    "The site %(site)s cannot be reached: %(reason)s.", site=str(self._client.base_url), reason=error
                ) from error
            if answer.is_success:
                return answer
            if not left or answer.status_code not in PASSING:
                break
            pause(_seconds_to_wait(answer))
        raise _refusal(answer)


def in_path(text: str) -> str:
    """A tag or docno escaped for a path, slashes included."""
    return quote(text, safe="")


def _seconds_to_wait(answer: httpx.Response) -> float:
    """The time that the site names, in seconds, within reason."""
    named = answer.headers.get("Retry-After", "")
    return min(float(named), LONGEST_PAUSE) if named.isdecimal() else SECONDS_BETWEEN_LOOKS


def _written(value: object) -> Iterator[str]:
    """The value of a query parameter: absent, once, or repeated for a list."""
    if isinstance(value, list | tuple):
        yield from map(str, value)
    elif value is not None:
        yield str(value).lower() if isinstance(value, bool) else str(value)


def _refusal(answer: httpx.Response) -> AnnotatorError:
    if not answer.headers.get("Content-Type", "").startswith(PROBLEM):
        return SiteError(
            "%(address)s answered with status %(status)d and is perhaps no annotator.",
            address=str(answer.url.copy_with(query=None)),
            status=answer.status_code,
        )
    return _refused(answer.json())


def _refused(problem: Mapping[str, Any]) -> AnnotatorError:
    if not problem.get("problems"):
        refusal = SiteError(NO_LINE, said=problem["detail"])
        refusal.status = problem.get("status")
        return refusal
    problems = Problems()
    for one in problem["problems"]:
        sentence = Sentence(one["detail"].replace("%", "%%"))
        further = tuple(one["lines"][1:])
        problems.add_problem(Problem(one["file"], one["line"], sentence, one["count"], further))
    return FileRefusedError(problems, Sentence(NO_LINE, {"said": problem["detail"]}))
