"""A judge's browser gets not one byte that depends on runs, ranks, scores, tags or what others said.

Two sites have the same topics, documents and pool, and different runs, ranks, scores, numbers of runs, teams and grades
of other judges. Jo does the same on both, in every way there is: each answer must be the same, headers included.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from access_matrix import MATRIX, N
from build import NOW, SLUG, document_file, labels, member, news, pool, run, topic_file, user
from sqlalchemy import select
from sqlalchemy.orm import Session
from visiting import Visitor, shared_application, with_database
from werkzeug.test import TestResponse

from annotator.settings import sqlite_url
from annotator.storage import Database, Evidence, Judgement, Role
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange

DOCNOS = [f"d{number:02}" for number in range(12)]
# What the other judges said, for each site; as many grades of as many documents.
SAID = {"one": "0011201201", "other": "2120010212"}
RUNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "one": {"zebra": DOCNOS},
    "other": {"otter": DOCNOS[::-1], "walrus": DOCNOS[3:] + DOCNOS[:3], "heron": DOCNOS[6:]},
}
SECRETS = ("zebra", "otter", "walrus", "heron", "giraffe", "badger", "nellie", "marmot")
# Moments to the second differ between two visits, and ids and signs that are drawn at random.
CHANCE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z| UTC)?"), "MOMENT"),
    (re.compile(r'(name="(?:csrf_token|client_id)" value=")[^"]*'), r"\1CHANCE"),
    (re.compile(r'("csrf": ?")[^"]*'), r"\1CHANCE"),
    (re.compile(r"(ETag|Set-Cookie|Date|Content-Length): .*"), r"\1"),
)


def fill(session: Session, site: str) -> None:
    """The accounts first, so that everybody has the same number on both sites."""
    user(session, "jo")
    user(session, "nellie")
    user(session, "marmot")
    user(session, "ada", administrator=True)
    news(session, judgements_wanted=3)
    topic_file(session, "1\tcats\tWhich documents tell of cats?\n2\tdogs\n")
    document_file(session, DOCNOS)
    for team, (tag, docnos) in enumerate(RUNS[site].items()):
        run(session, f"{tag}-run", {"1": docnos, "2": docnos[:4]}, team=("giraffe", "badger", "giraffe")[team])
    # The same documents in all: what the pool is made of is no secret, how it came about is.
    run(session, f"{SECRETS[0] if site == 'one' else SECRETS[1]}-rest", {"2": DOCNOS})
    pool(session, depth=12, seed=5)
    for judge, name in (("nellie", "a.txt"), ("marmot", "b.txt")):
        member(session, judge)
        grades = SAID[site] if judge == "nellie" else SAID[site][::-1]
        text = "".join(f"1 0 {docno} {grade}\n" for docno, grade in zip(DOCNOS, grades, strict=False))
        labels(session, judge, text, name=name)
    # What the others wrote reaches adjudicators, and no judge.
    for one in session.scalars(select(Judgement)):
        one.note = f"{SECRETS[-1]} found {one.grade} on {site}"
        session.add(Evidence(judgement_id=one.id, start=0, end=4, text=site))
    collection.change_collection(session, SLUG, CollectionChange(judges_search=True))
    collection.set_guidelines(session, SLUG, "# Rules\n\nBe fair.", made_by_id=None, made_at=NOW)
    id_ = member(session, "jo", Role.JUDGE)
    collection.accept_guidelines(session, SLUG, id_, 1)


@pytest.fixture(scope="module")
def sites(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Database]]:
    """Both sites."""
    found = {}
    folder = tmp_path_factory.mktemp("sites")
    for site in RUNS:
        shutil.copy(sqlite_template, folder / f"{site}.sqlite")
        found[site] = Database(sqlite_url(folder / f"{site}.sqlite"))
        with found[site].transaction() as session:
            fill(session, site)
    yield found
    for database in found.values():
        database.close()


class Seen:
    """Jo's browser on one site, and everything that it was sent."""

    def __init__(self, database: Database) -> None:
        """Sign in."""
        self.visitor = Visitor(with_database(shared_application(), database), database, "jo")
        self.answers: list[tuple[str, str]] = []

    def keep(self, answer: TestResponse) -> TestResponse:
        """Note an answer, but for what is chance."""
        headers = "\n".join(sorted(f"{name}: {value}" for name, value in answer.headers.items()))
        text = f"{answer.status}\n{headers}\n\n{answer.get_data(as_text=True)}"
        for pattern, instead in CHANCE:
            text = pattern.sub(instead, text)
        self.answers.append((f"{answer.request.method} {answer.request.path}", text))
        return answer

    def get(self, path: str) -> TestResponse:
        return self.keep(self.visitor.get(path))

    def post(self, path: str, **fields: object) -> TestResponse:
        return self.keep(self.visitor.post(path, **fields))

    def send(self, path: str, body: object) -> TestResponse:
        return self.keep(self.visitor.client.post(path, json=body))


def judge_by_forms(jo: Seen) -> None:
    """The whole of topic 2 without a script, a document put off and one that cannot be judged among them."""
    for turn in range(16):
        page = jo.get(f"{N}/judge/topics/2")
        form = re.search(rf'action="({N}/judge/assignments/\d+)"', page.text)
        if form is None:
            return
        said: dict[str, object] = {"grade": str(turn % 3), "note": f"note {turn}", "client_id": f"form-{turn}"}
        if turn == 1:
            said = {"later": "1", "client_id": "form-later"}
        if turn == 2:
            said = {"cannot_judge": "broken", "client_id": "form-cannot"}
        jo.post(form[1], **said)
        jo.get(form[1])
    raise AssertionError("The topic has no end.")


def judge_by_script(jo: Seen) -> None:
    """Half of topic 1 as the screen's script does, with an undo, a wrong grade, a repetition and a forged number."""
    page = jo.get(f"{N}/judge/topics/1")
    batch = re.search(r'<script type="application/json" id="batch">(.*?)</script>', page.text, re.DOTALL)
    assert batch is not None
    held = [one["assignment"] for one in json.loads(batch[1])["documents"]]
    for turn, assignment in enumerate(held[:6]):
        act = {"id": f"s{turn}", "sequence": turn, "assignment": assignment, "kind": "grade", "grade": turn % 3}
        act |= {"note": "why", "seconds": 3, "evidence": [{"start": 0, "end": 4, "text": "Text"}]}
        jo.send(f"{N}/judge/topics/1/acts", {"tab": "t", "holds": held[turn + 1 :], "acts": [act]})
        jo.get(f"{N}/judge/assignments/{assignment}.json")
        jo.get(f"{N}/judge/assignments/{assignment}/parts/1")
    again = {"id": "s9", "sequence": 9, "assignment": held[0], "kind": "grade", "grade": 2}
    wrong = {"id": "s10", "sequence": 10, "assignment": held[1], "kind": "grade", "grade": 9}
    forged = {"id": "s11", "sequence": 11, "assignment": 9999, "kind": "grade", "grade": 1}
    later = {"id": "s12", "sequence": 12, "assignment": held[6], "kind": "later"}
    jo.send(f"{N}/judge/topics/1/acts", {"tab": "t", "holds": [], "acts": [again, wrong, forged, later, again]})
    jo.send(f"{N}/judge/topics/1/acts", {"tab": "t", "holds": [], "acts": []})


def work_at_the_desk(jo: Seen) -> None:
    """Notes, words, questions, searches, what was judged."""
    jo.send(f"{N}/judge/topics/1/note", {"text": "Kittens count."})
    jo.send(f"{N}/judge/topics/1/marks", {"words": ["kitten"]})
    jo.send(f"{N}/judge/questions", {"id": "q1", "topic": "1", "text": "Does a lion count?"})
    jo.post(f"{N}/judge/questions", client_id="q2", topic="1", text="Does a tiger count?")
    jo.send(f"{N}/judge/questions/read", {})
    jo.get(f"{N}/search?topic=1&q=text")
    jo.get(f"{N}/search/document?docno=d03&topic=1&q=text")
    jo.post(f"{N}/search/judge", topic="1", docno="d11", q="text")
    for query in ("", "?topic=1", "?grade=1", "?q=d0"):
        jo.get(f"{N}/judge/judged{query}")


def open_everything(jo: Seen) -> None:
    """Every address there is, whether or not it is for judges: a refusal may tell something, too."""
    for row in MATRIX.values():
        if row.method == "GET" and "/static/" not in row.path:
            jo.get(row.path)
    for number in range(1, 30):
        jo.get(f"{N}/judge/assignments/{number}")


@pytest.fixture(scope="module")
def seen(sites: dict[str, Database]) -> dict[str, list[tuple[str, str]]]:
    """Everything that Jo sees on each site."""
    return {site: everything_jo_sees(database) for site, database in sites.items()}


def everything_jo_sees(database: Database) -> list[tuple[str, str]]:
    jo = Seen(database)
    for path in ("", "/guidelines", "/judge", "/judge/notes/1", "/training"):
        jo.get(f"{N}{path}")
    judge_by_forms(jo)
    judge_by_script(jo)
    work_at_the_desk(jo)
    open_everything(jo)
    return jo.answers


def test_what_a_judge_gets_does_not_depend_on_runs_or_on_what_others_said(
    seen: dict[str, list[tuple[str, str]]],
) -> None:
    one, other = seen["one"], seen["other"]
    assert [asked for asked, _ in one] == [asked for asked, _ in other]
    differing = [asked for (asked, text), (_, text_there) in zip(one, other, strict=True) if text != text_there]
    assert differing == []
    # It was work, and not a walk past closed doors.
    opened = [asked for asked, text in one if text.startswith("200")]
    assert len(opened) > 60
    assert sum("/acts" in asked for asked in opened) >= 7
    assert not [asked for asked, text in one if asked.startswith("POST") and not text.startswith(("200", "303"))]


def test_no_name_of_a_run_a_team_or_another_judge_reaches_a_judge(seen: dict[str, list[tuple[str, str]]]) -> None:
    for site in RUNS:
        told = [(asked, secret) for asked, text in seen[site] for secret in SECRETS if secret in text.casefold()]
        assert told == []


def test_the_two_sites_do_differ_for_their_organiser(sites: dict[str, Database]) -> None:
    pages = []
    for database in sites.values():
        app = with_database(shared_application(), database)
        pages.append(Visitor(app, database, "ada").get(f"{N}/leaderboard?m=AP").text)
    assert "zebra" in pages[0]
    assert "otter" in pages[1]
