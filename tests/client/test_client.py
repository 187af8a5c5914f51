"""`annotator.client.Site` on a real site, and where a site is busy, away, or none."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from build import SLUG, document_file, labels, member, news, pool, run, topic_file, user
from calling import token_of
from cli.remote_site import Remote, served
from kept import Kept
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.client import Site, SiteError
from annotator.errors import AnnotatorError, FileRefusedError
from annotator.files import InputFile
from annotator.storage import Database, Role

GAMMA = "1 Q0 d1 1 2.0 gamma\n1 Q0 d9 2 1.0 gamma\n2 Q0 d1 1 1.0 gamma\n"


def judged_site(database: Database) -> None:
    """A pooled collection: Jo judges, Ola organises, Pat sends runs."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        document_file(session, ["d1", "d2"])
        run(session, "alpha", {"1": ["d1", "d2"]})
        pool(session, depth=2)
        member(session, "jo", Role.JUDGE)
        member(session, "ola", Role.ORGANISER)
        member(session, "pat", Role.PARTICIPANT, team="red")


@pytest.fixture
def site(sqlite_database: Database, kept: Kept) -> Iterator[Remote]:
    kept.fill(sqlite_database, judged_site)
    with served(sqlite_database) as remote:
        yield remote


def of(site: Remote, name: str) -> Site:
    return Site(site.address, token_of(site.database, name))


def test_a_run_is_checked_submitted_listed_and_read_back(site: Remote, tmp_path: Path) -> None:
    file = tmp_path / "gamma.run"
    file.write_text(GAMMA)
    with of(site, "pat") as pat:
        assert pat.check_run(SLUG, file)["retrieved"] == 3
        assert pat.runs(SLUG) == []
        receipt = pat.submit_run(SLUG, str(file), description="ours")
        assert (receipt["tag"], receipt["retrieved"]) == ("gamma", 3)
        assert [one["description"] for one in pat.runs(SLUG)] == ["ours"]
        assert pat.run_file(SLUG, "gamma").decode() == GAMMA


def test_a_judge_draws_and_judges_and_an_organiser_reads_qrels_and_leaderboard(site: Remote) -> None:
    with of(site, "jo") as jo:
        [topic] = jo.topics_to_judge(SLUG)
        drawn = jo.draw(SLUG, topic["number"])
        sent = [
            {"id": f"x-{one['assignment']}", "assignment": one["assignment"], "grade": int(one["docno"] == "d1")}
            for one in drawn["documents"]
        ]
        for _ in range(2):  # what is sent twice is stored once
            assert len(jo.judge(SLUG, sent)["acknowledged"]) == 2
    with of(site, "ola") as ola:
        assert [one["slug"] for one in ola.collections()] == [SLUG]
        assert sorted(ola.qrels(SLUG).decode().splitlines()) == ["1 0 d1 1", "1 0 d2 0"]
        [row] = ola.leaderboard(SLUG, measures=["P@1", "AP"])["rows"]
        assert row["tag"] == "alpha"


def test_refusals_are_raised_in_the_words_of_the_site(site: Remote) -> None:
    with of(site, "pat") as pat:
        with pytest.raises(FileRefusedError) as refused:
            pat.submit_run(SLUG, InputFile("bad.run", b"1 Q0 d1 1 x bad\n9 Q0 d1 1 2.0 bad\n"))
        assert [(one.file, one.line) for one in refused.value.problems] == [("bad.run", 1), ("bad.run", 2)]
        with pytest.raises(SiteError):
            pat.qrels(SLUG)
    with pytest.raises(SiteError, match=r"cannot be reached"), Site("http://127.0.0.1:9", "x") as away:
        away.collections()
    with pytest.raises(AnnotatorError, match=r"wants a token"):
        Site("https://example.org", "")
    with pytest.raises(AnnotatorError, match=r"“example\.org” is no address"):
        Site("example.org", "x")


def test_a_long_report_is_waited_for(site: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    with site.database.transaction() as session:
        labels(session, "ann", "1 0 d1 1\n1 0 d2 0\n")
        labels(session, "bob", "1 0 d1 0\n")
    address = f"/collections/{SLUG}/agreement/effect"
    with of(site, "ola") as ola:
        at_once, report = ola.get(address, m="AP"), ola.content(f"/collections/{SLUG}/report", section="task")
        monkeypatch.setattr(jobs_asked, "MOST_LISTS_AT_ONCE", 0)
        # While the client waits, the worker works.
        monkeypatch.setattr("annotator.client.site.pause", lambda _seconds: work(site.database))
        assert ola.get(address, m="AP") == at_once
        assert len(ola.content(f"/collections/{SLUG}/report", section="task")) == len(report)
        with pytest.raises(SiteError, match="nonsense"):
            ola.get(address, m="nonsense")


def test_a_collection_is_archived_and_imported_again(site: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    with site.database.transaction() as session:
        user(session, "ada", administrator=True)
    monkeypatch.setattr("annotator.client.site.pause", lambda _seconds: work(site.database))
    with of(site, "ada") as ada:
        archive = InputFile("news.zip", ada.archive(SLUG, pseudonyms=True))
        assert ada.send("/archives", archive, slug="again")["slug"] == "again"
        assert [one["tag"] for one in ada.runs("again")] == ["alpha"]
        with pytest.raises(SiteError, match="Nothing is judged yet"):
            ada.archive(SLUG, format="beir")


def test_what_is_at_an_address_is_replaced_and_removed(site: Remote) -> None:
    with of(site, "ola") as ola:
        gold = f"/collections/{SLUG}/gold-questions"
        assert ola.put(gold, {"topic": "1", "docno": "d1", "grade": 1})["added"] == 1
        assert ola.delete(gold, topic="1", docno="d1") == {"topic": "1", "docno": "d1"}
        assert ola.every(gold) == []


def answering(*answers: tuple[int, dict[str, str]]) -> tuple[Site, list[httpx.Request]]:
    """A site that gives these answers one after the other, and the requests it got."""
    left, requests = list(answers), list[httpx.Request]()

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        status, headers = left.pop(0)
        return httpx.Response(status, headers=headers, json=[])

    return Site("https://site", "x", client=httpx.Client(transport=httpx.MockTransport(answer))), requests


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client waited, each time, without waiting."""
    pauses: list[float] = []
    monkeypatch.setattr("annotator.client.site.pause", pauses.append)
    return pauses


@pytest.mark.parametrize(
    ("call", "status", "tries"),
    [
        (lambda site: site.get("/a"), 503, 2),
        (lambda site: site.post("/a", {}), 503, 2),
        (lambda site: site.post("/a", {}), 429, 2),
        (lambda site: site.get("/a"), 502, 2),
        (lambda site: site.post("/a", {}), 502, 2),  # the site carries it out once
        (lambda site: site.get("/a"), 500, 1),
    ],
)
def test_a_busy_site_is_asked_again(
    call: Callable[[Site], object], status: int, tries: int, waited: list[float]
) -> None:
    site, requests = answering((status, {"Retry-After": "7"}), (200, {}))
    if tries == 1:
        with pytest.raises(SiteError, match=f"status {status}"):
            call(site)
    else:
        assert call(site) == []
    assert waited == [7.0] * (tries - 1)
    assert len({request.headers["Idempotency-Key"] for request in requests}) == 1
    assert len(requests) == tries


def test_a_site_that_stays_busy_is_given_up(waited: list[float]) -> None:
    site, requests = answering(*[(503, {"Retry-After": "86400"})] * 9)
    with pytest.raises(SiteError, match="status 503"):
        site.get("/a")
    assert (len(requests), waited) == (3, [60.0, 60.0])


class Forgetful(httpx.BaseTransport):
    """Passes requests on to a real site, and breaks the connection before the first answer arrives."""

    def __init__(self) -> None:
        """Nothing was sent yet."""
        self.real = httpx.HTTPTransport()
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass the request on."""
        answer = self.real.handle_request(request)
        self.sent.append(request)
        if len(self.sent) == 1:
            answer.read()
            raise httpx.ReadError("The connection broke.", request=request)
        return answer


def test_a_run_whose_answer_is_lost_is_stored_once(site: Remote, waited: list[float]) -> None:
    transport = Forgetful()
    with Site(site.address, token_of(site.database, "pat"), client=httpx.Client(transport=transport)) as pat:
        receipt = pat.submit_run(SLUG, InputFile("gamma.run", GAMMA.encode()))
        assert (receipt["tag"], receipt["retrieved"]) == ("gamma", 3)
        assert len(pat.every(f"/collections/{SLUG}/runs", every=True)) == 1
    assert len({request.headers["Idempotency-Key"] for request in transport.sent[:2]}) == 1
    assert waited == [1.0]
