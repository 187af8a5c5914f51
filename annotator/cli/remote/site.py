"""HTTP client for a remote site, by address and token; its errors are shown like those of local commands."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from time import sleep as pause
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

import click
import httpx

from annotator.cli.remote.given import GIVEN, SiteGiven
from annotator.cli.site.installation import Installation, on_installation, refuse_what_is_no_text
from annotator.cli.site.progress import progress_shown
from annotator.errors import AnnotatorError, FileRefusedError, InvalidValueError, Problem, Problems, Sentence
from annotator.files import InputFile

ROOT = "/api/v1"
PROBLEM = "application/problem+json"
OCTETS = "application/octet-stream"
ACCEPTED = 202
DONE = "done"
FINISHED = (DONE, "failed", "cancelled")
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS = 600.0  # a large run is read before the response comes
TRIES = 3
PAGE = 1_000
NO_LINE = "%(said)s"

Options = ParamSpec("Options")
Stored = TypeVar("Stored")
Remote = TypeVar("Remote")


class SiteError(AnnotatorError):
    """The site cannot be reached, or refused the request."""


class Site:
    """Client of one site; refusals are raised with the site's own message."""

    def __init__(self, client: httpx.Client) -> None:
        """Use this client, whose base URL is the root of the API."""
        self._client = client

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - JSON
        """GET a resource as JSON."""
        return self._call("GET", path, query).json()

    def every(self, path: str, **query: object) -> list[Any]:
        """GET all pages of a list."""
        return [row for page in self._pages(path, query) for row in page]

    def content(self, path: str, **query: object) -> bytes:
        """GET a resource as bytes."""
        return self._call("GET", path, query).content

    def post(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """POST JSON and return the JSON response."""
        return self._call("POST", path, {}, json=body).json()

    def patch(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - JSON
        """PATCH with JSON and return the JSON response."""
        return self._call("PATCH", path, {}, json=body).json()

    def send(self, path: str, file: InputFile, **query: object) -> Any:  # noqa: ANN401 - JSON
        """POST a file as the body and return the JSON response; for a large file, wait for its job."""
        headers = {"Content-Type": OCTETS}
        named = {"name": file.name, **query}
        answer = self._call("POST", path, named, content=file.content, headers=headers)
        return self._finished(answer, file.name) if answer.status_code == ACCEPTED else answer.json()

    def send_form(self, path: str, files: Sequence[tuple[str, InputFile]], **query: object) -> Any:  # noqa: ANN401 - JSON
        """POST files as parts of a form and return the JSON response; for large files, wait for their job."""
        parts = [(part, (file.name, file.content, OCTETS)) for part, file in files]
        answer = self._call("POST", path, query, files=parts)
        return self._finished(answer, files[0][1].name) if answer.status_code == ACCEPTED else answer.json()

    def delete(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """DELETE a resource and return the JSON response."""
        return self._call("DELETE", path, {}).json()

    def _finished(self, accepted: httpx.Response, name: str) -> Any:  # noqa: ANN401 - JSON
        """Wait for a job and return its result; a terminal shows the progress."""
        # The address is as the site sees it; when a proxy adds a path prefix, only its end is valid here.
        path = accepted.headers["Location"].partition(ROOT)[2]
        with progress_shown(f"{name}: the site is at work") as show:
            while (job := self.get(path))["state"] not in FINISHED:
                if show is not None:
                    show(job["steps_done"], job["steps"] or 1)
                pause(SECONDS_BETWEEN_LOOKS)
        if job["problem"] is not None:
            raise _refused(job["problem"])
        if job["state"] != DONE:
            raise SiteError("The import of “%(file)s” was called off on the site. Nothing was stored.", file=name)
        if job["result"] is None:
            raise SiteError("“%(file)s” is stored on the site, but what came of it was lost: look there.", file=name)
        return job["result"]

    def _pages(self, path: str, query: Mapping[str, object]) -> Iterator[list[Any]]:
        page = 1
        while True:
            rows: list[Any] = self.get(path, **query, page=page, page_size=PAGE)
            yield rows
            if len(rows) < PAGE:
                return
            page += 1

    def _call(self, method: str, path: str, query: Mapping[str, object], **more: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        asked = [(name, text) for name, value in query.items() for text in _written(value)]
        try:
            answer = self._client.request(method, path, params=tuple(asked), **more)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SiteError(
                "The site %(site)s cannot be reached: %(reason)s.", site=str(self._client.base_url), reason=error
            ) from error
        if not answer.is_success:
            raise _refusal(answer)
        return answer


def on_site(command: Callable[Concatenate[Site, Options], None]) -> Callable[Options, None]:
    """Pass the site to a command as its first argument, and close the client afterwards."""

    @wraps(command)
    def with_site(*args: Options.args, **options: Options.kwargs) -> None:
        context = click.get_current_context()
        refuse_what_is_no_text(context)
        command(Site(context.with_resource(_client(_given(context)))), *args, **options)

    return with_site


def on_database_or_site(
    stored: Callable[[Installation], Stored], remote: Callable[[Site], Remote]
) -> Callable[[Callable[Concatenate[Stored | Remote, Options], None]], Callable[Options, None]]:
    """Pass a command `remote(site)` if --site is given, otherwise `stored(installation)`, as its first argument.

    The options and the output of such a command are the same for both.
    """

    def on_either(command: Callable[Concatenate[Stored | Remote, Options], None]) -> Callable[Options, None]:
        @on_site
        def there(site: Site, /, *args: Options.args, **options: Options.kwargs) -> None:
            command(remote(site), *args, **options)

        @on_installation
        def here(installation: Installation, /, *args: Options.args, **options: Options.kwargs) -> None:
            command(stored(installation), *args, **options)

        @wraps(command)
        def with_either(*args: Options.args, **options: Options.kwargs) -> None:
            is_on_site = GIVEN in click.get_current_context().meta
            (there if is_on_site else here)(*args, **options)

        return with_either

    return on_either


def in_path(text: str) -> str:
    """A tag or docno escaped for a path, slashes included."""
    return quote(text, safe="")


def _given(context: click.Context) -> SiteGiven:
    given = context.meta.get(GIVEN)
    if not isinstance(given, SiteGiven):
        raise click.UsageError("This works on a site: give --site URL, or set ANNOTATOR_SITE.")
    return given


def _client(given: SiteGiven) -> httpx.Client:
    if not given.token:
        raise InvalidValueError(
            "The site wants a token: give --token or ANNOTATOR_TOKEN. It is made on your account's page there."
        )
    if not given.address.startswith(("https://", "http://")):
        raise InvalidValueError("“%(address)s” is no address of a site: https://…", address=given.address)
    return httpx.Client(
        base_url=given.address.rstrip("/") + ROOT,
        headers={"Authorization": f"Bearer {given.token}"},
        timeout=SECONDS,
        transport=httpx.HTTPTransport(retries=TRIES),
    )


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
        return SiteError(NO_LINE, said=_details(problem))
    problems = Problems()
    for one in problem["problems"]:
        sentence = Sentence(one["detail"].replace("%", "%%"))
        further = tuple(one["lines"][1:])
        problems.add_problem(Problem(one["file"], one["line"], sentence, one["count"], further))
    return FileRefusedError(problems, Sentence(NO_LINE, {"said": problem["detail"]}))


def _details(problem: Mapping[str, Any]) -> str:
    """The message of a problem with the errors of each field."""
    fields = [
        f"{name}: {' '.join(wrong) if isinstance(wrong, list) else wrong}"
        for part in (problem.get("errors") or {}).values()
        for name, wrong in (part.items() if isinstance(part, dict) else [])
    ]
    return " ".join([problem["detail"], *fields])
