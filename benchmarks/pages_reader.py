"""A browser of a signed-in organiser, who also has a token: what each request takes, and what its page links to."""

import json
import re
import time
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection, HTTPResponse
from os import sysconf
from pathlib import Path
from urllib.parse import urlencode, urljoin

from benchmarks.judging_client import A_FORM, HOST, OK, SEE_OTHER, TOKEN, enter
from benchmarks.pages_site import ORGANISER, PASSWORD
from benchmarks.served_site import processes

SECONDS_TO_ANSWER = 120
WARM, COLD = 300.0, 1500.0  # milliseconds
MILLISECONDS = 1000
API = "/api/"
API_DOCUMENT = f"{API}v1/openapi.json"
LINK = re.compile(r'<a\b[^>]*?href="([^"#]+)', re.IGNORECASE)
OFFER = re.compile(r'<form method="post" action="(/collections/[^"/]+/jobs)".*?name="page" value="([^"]*)"', re.DOTALL)
TICKS = sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Took:
    """Milliseconds of one request: as somebody waits for it, and of the processor."""

    wall: float
    processor: float


@dataclass
class Page:
    """What came of one page; of a file, only the limit for a cold page holds."""

    path: str
    status: int
    cold: Took
    is_file: bool = False
    size: int = 0
    offer: dict[str, str] | None = None  # the form that has the page computed
    warm: list[Took] = field(default_factory=list)

    def cells(self, by: str) -> tuple[float, float]:
        """Milliseconds warm and cold, by the clock or by the processor."""
        return min(getattr(took, by) for took in self.warm), getattr(self.cold, by)

    def is_slow(self, by: str) -> bool:
        """Whether it misses a limit."""
        warm, cold = self.cells(by)
        return warm > (COLD if self.is_file else WARM) or cold > COLD


class Reader:
    """The organiser, on one connection, beside the server's processes."""

    def __init__(self, port: int, process: int, token: str) -> None:
        """Sign in."""
        self._connection = HTTPConnection(HOST, port, timeout=SECONDS_TO_ANSWER)
        self._headers = {"Cookie": enter(port, ORGANISER, PASSWORD), "Authorization": f"Bearer {token}"}
        self._process = process

    def get(self, path: str) -> tuple[Page, list[str]]:
        """Request a page: what it took, and the addresses that it links to."""
        spent, start = self._processor(), time.perf_counter()
        answer, content = self._ask("GET", path)
        took = Took((time.perf_counter() - start) * MILLISECONDS, (self._processor() - spent) * MILLISECONDS)
        is_html = (answer.getheader("Content-Type") or "").startswith("text/html")
        is_file = not is_html and (not path.startswith(API) or "json" not in (answer.getheader("Content-Type") or ""))
        text = content.decode() if is_html and answer.status == OK else ""
        page = Page(path, answer.status, took, is_file, len(content), _offer(text))
        return page, [urljoin(path, unescape(link)) for link in LINK.findall(text)]

    def api_paths(self, slug: str) -> list[str]:
        """Name what programs read of a collection and what needs nothing else in its address."""
        _, content = self._ask("GET", API_DOCUMENT)
        read = [path for path, operations in json.loads(content)["paths"].items() if "get" in operations]
        return [path.replace("{slug}", slug) for path in read if path.count("{") == path.count("{slug}") == 1]

    def have_computed(self, page: Page) -> None:
        """Leave a page to the worker, as its button does."""
        fields = dict(page.offer or {})
        answer, _ = self._ask("POST", fields.pop("action"), urlencode(fields).encode())
        if answer.status != SEE_OTHER:
            raise RuntimeError(f"{page.path} is not left to the worker: {answer.status}")

    def _ask(self, method: str, path: str, body: bytes | None = None) -> tuple[HTTPResponse, bytes]:
        headers = self._headers if body is None else {**self._headers, "Content-Type": A_FORM}
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        # The session's own token for forms is in a cookie that comes with the first form.
        if given := answer.getheader("Set-Cookie"):
            self._headers["Cookie"] = given.partition(";")[0]
        return answer, answer.read()

    def _processor(self) -> float:
        """Seconds of processor that the processes have taken so far."""
        return sum(map(_seconds_of, processes(self._process)))


def _offer(text: str) -> dict[str, str] | None:
    """Read the form of a page that is left to the worker; the token of another form would do as well."""
    form, token = OFFER.search(text), TOKEN.search(text)
    if form is None or token is None:
        return None
    return {"action": form[1], "page": unescape(form[2]), "csrf_token": token[1]}


def _seconds_of(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0
    return (int(fields[11]) + int(fields[12])) / TICKS
