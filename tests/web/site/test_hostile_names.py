"""Names and words that a spreadsheet would run and a browser would take for HTML: in every CSV and on every page."""

import csv
import io
import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from access_matrix import MATRIX
from build import NOW, SLUG, build, labels, member, news, pool, run, topic_file, user
from clicking import log_text, stored_log
from flask import Flask
from kept import Kept
from visiting import Visitor

from annotator.evaluation.formats.source_answers import SourceOptions
from annotator.evaluation.runs.questionnaires import AnswerKind, RunQuestion
from annotator.files import InputFile
from annotator.installed import PACKAGE
from annotator.storage import Database, Role, ScoresShown
from annotator.storage.collections import audit
from annotator.storage.collections.audit import Actor
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.tables.collections import Door
from annotator.workflows.documents import documents
from annotator.workflows.documents.source_places import Reach
from annotator.workflows.documents.sources import set_source
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import questionnaires, submissions

# Each begins as a formula does, and would end an attribute or begin an element.
TOPIC, OTHER_TOPIC = "=1+1", "@2"
TAG, OTHER_TAG, SECOND_TAG = "=cmd|\"'<script>", "+alpha", "-second"
TEAM, OTHER_TEAM = "=HYPERLINK(\"x\")<svg/onload='x'>", "@blue"
JUDGE, OTHER_JUDGE = "=<b>jo</b>", "-kim"
TITLE = '=SUM(A1)<img src=x onerror="y">'
FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - the wide signs are meant
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|inf|nan)")
# For a participant alone, whose own runs they have.
PARTICIPANTS = {"submissions.scores_csv", "own_pair.as_csv"}
# Nothing in them is of anybody's making here.
PLAIN = {"rounds.as_csv", "documents.changed_csv", "document_sources.failures_file"}


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        member(session, "ola", Role.ORGANISER)
        member(session, "pat", Role.PARTICIPANT, team=TEAM)
        user(session, "ada", administrator=True)
        topic_file(session, f"{TOPIC}\t{TITLE}\t{TITLE}\n{OTHER_TOPIC}\tsecond\n")
        text = f"=D1\t{TITLE}\t{TITLE}\n+D2\t{TITLE}\ttext\n@D3\tt\ttext\n".encode()
        read = documents.read_documents([InputFile("=d.tsv", text)], fields={}, unpacked_limit=1 << 20)
        documents.import_documents(session, SLUG, read)
        address = "https://corpus.example.org/{docno}"
        reach = Reach(("corpus.example.org",))
        set_source(session, SLUG, address, SourceOptions(), reach=reach, by_id=None, by_command=True, at=NOW)
        run(session, TAG, {TOPIC: ["=D1", "+D2"], OTHER_TOPIC: ["@D3"]}, team=TEAM)
        run(session, OTHER_TAG, {TOPIC: ["+D2", "@D3"], OTHER_TOPIC: ["=D1"]}, team=OTHER_TEAM)
        run(session, SECOND_TAG, {TOPIC: ["+D2"], OTHER_TOPIC: ["@D3", "=D1"]}, team=TEAM)
        asked = RunQuestion("model", TITLE, AnswerKind.CHOICE, choices=(TITLE, "other"))
        questionnaires.set_questionnaire(session, SLUG, [asked], made_by_id=None, at=NOW)
        questionnaires.change_answers(session, SLUG, TAG, {"model": TITLE}, at=NOW)
        pool(session, depth=2)
        build(session, PoolRequest("sample", {"budget": 5, "depth": 2, "certainty_depth": 2}))
        labels(session, JUDGE, f"{TOPIC} 0 =D1 1\n{TOPIC} 0 +D2 0\n{OTHER_TOPIC} 0 @D3 2\n")
        labels(session, OTHER_JUDGE, f"{TOPIC} 0 =D1 0\n{TOPIC} 0 +D2 0\n{OTHER_TOPIC} 0 @D3 1\n")
        stored_log(session, log_text(query=TOPIC, variants={"alpha": in_a_log(TAG), "beta": in_a_log(OTHER_TAG)}))
        kept = qrels.export_qrels(session, SLUG, policy="highest", made_at=NOW)
        qrels_versions.keep_qrels(session, SLUG, kept, made_by_id=None, made_at=NOW)
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), shown=ScoresShown.WHOLE, early=True)
        audit.record_in(session, Actor(Door.COMMAND, JUDGE), "pool.build", SLUG, subject=TAG, at=NOW)


def in_a_log(name: str) -> str:
    """A name as a cell of CSV."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


@pytest.fixture
def hostile(database: Database, kept: Kept) -> Database:
    """A judged collection in which every name and text is hostile."""
    kept.fill(database, fill)
    return database


def address_of(endpoint: str) -> str:
    """The address that the access matrix asks for, about what there is here."""
    path, _, query = MATRIX[endpoint].path.partition("?")
    second = SECOND_TAG if endpoint in PARTICIPANTS else OTHER_TAG
    for name, value in {
        "tag=alpha": f"tag={quote(TAG)}",
        "first=alpha&second=beta": f"first={quote(TAG)}&second={quote(second)}&table=topics",
        "number=2": f"number={quote(TOPIC)}",
        "number=1": f"number={quote(TOPIC)}",
        "table=checks": "table=variants",
    }.items():
        query = query.replace(name, value)
    return f"{path}?{query}"


def csv_endpoints(app: Flask) -> list[str]:
    """Every view of the pages that answers with a CSV."""
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.endswith(".csv")]
    return sorted(rule.endpoint for rule in rules if not rule.rule.startswith("/api/"))


def test_no_cell_of_any_csv_is_a_formula(app: Flask, hostile: Database) -> None:
    escaped = set()
    endpoints = csv_endpoints(app)
    assert len(endpoints) > 15
    for endpoint in endpoints:
        who = "pat" if endpoint in PARTICIPANTS else "ada"
        answer = Visitor(app, hostile, who).get(address_of(endpoint))
        assert (endpoint, answer.status_code) == (endpoint, 200)
        assert answer.headers["Content-Disposition"].startswith("attachment")
        cells = [cell for row in csv.reader(io.StringIO(answer.text, newline="")) for cell in row]
        formulas = [cell for cell in cells if FORMULA.match(cell) and not NUMBER.fullmatch(cell)]
        assert (endpoint, formulas) == (endpoint, [])
        escaped |= {endpoint} if any(FORMULA.match(cell[1:]) for cell in cells if cell.startswith("'")) else set()
    assert set(endpoints) - escaped == PLAIN


def test_one_place_writes_csv() -> None:
    writers = {path.name for path in PACKAGE.rglob("*.py") if "csv.writer" in path.read_text(encoding="utf-8")}
    assert writers == {"spreadsheets.py"}


PAGES = sorted(
    endpoint
    for endpoint, row in MATRIX.items()
    if row.method == "GET" and row.statuses[4] == 200 and not endpoint.endswith(("csv", "static"))
)


@pytest.mark.parametrize("endpoint", PAGES)
def test_no_page_takes_a_name_for_html(app: Flask, hostile: Database, endpoint: str) -> None:
    answer = Visitor(app, hostile, "ada").get(address_of(endpoint))
    if answer.mimetype != "text/html":
        return
    # The report ends with the scripts of its pictures.
    page, _, _ = answer.text.partition("</main>\n<script>/*")
    for element in ("<script>", "<svg/", "<img src=x", "<b>jo"):
        assert element not in page
