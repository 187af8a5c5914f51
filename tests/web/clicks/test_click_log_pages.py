"""Click logs by page: added, told of, linked to runs, removed; and clicks beside judgements."""

import re

import pytest
from build import SLUG, document_file, labels
from clicking import HEADINGS, interleaving_text, log_text, stored_log
from csv_cells import unquoted
from kept import Kept
from sqlalchemy import select
from visiting import Visit, Visitor, file, words
from werkzeug.test import TestResponse

from annotator.clicks.evaluation.comparison.differences import Method
from annotator.clicks.evaluation.interleaving.interleaving_clicks import Uncounted
from annotator.clicks.evaluation.judgements.together import Verdict
from annotator.clicks.evaluation.judgements.together_report import Standing, TogetherTable
from annotator.clicks.evaluation.logs.click_log import Dropped
from annotator.clicks.evaluation.logs.log_findings import LogKind
from annotator.clicks.evaluation.logs.page_views import Outside
from annotator.clicks.web import click_log_form
from annotator.clicks.workflows.click_logs import CheckState, list_logs
from annotator.storage import AuditEvent, Database, Pool

LOG = "clicks/log?name=March"


def add(visitor: Visitor, news: str, text: str, **fields: object) -> TestResponse:
    said = {"name": "March", "kind": "comparison", "days": "7", "share": "0.5", **fields}
    return visitor.post(f"{news}/clicks", files=file("log.csv", text), **said)


@pytest.fixture
def judged(database: Database, kept: Kept, news: str) -> str:
    """The collection with a log of alpha and beta; judges prefer beta, of whose top document x is not pooled."""
    kept.fill(database, add_log)
    return news


def add_log(database: Database) -> None:
    with database.transaction() as session:
        document_file(session, ["x"])
        labels(session, "nist", "1 0 d 2\n1 0 a 0\n2 0 e 1\n2 0 a 0\n")
        stored_log(session, log_text())


def test_a_log_is_added_and_told_of_and_its_tables_are_files(visit: Visit, news: str) -> None:
    ola = visit("ola")
    answer = add(ola, news, log_text())
    assert (answer.status_code, answer.location) == (303, f"{news}/{LOG}")
    page = ola.get(answer.location)
    said = words(page)
    # What makes it worth reading comes before what was found.
    assert said.index("Split of the users fine 40 users and 40") < said.index("CTR@1: first pages with a click")
    assert "0.5000 0.2500 -0.2500" in said
    assert "Clicks are not relevance" in said
    assert 'data-chart="line"' in page.text
    assert 'data-chart="bar"' in page.text
    for table in re.findall(r"log\.csv\?name=March&amp;table=(\w+)", page.text):
        rows = ola.get(f"{news}/clicks/log.csv?name=March&table={table}").text.splitlines()
        assert len(rows) > 1, table
    assert "March" in words(ola.get(f"{news}/clicks"))


def test_another_measure_is_told_day_by_day_when_asked_for(visit: Visit, judged: str) -> None:
    ola = visit("ola")
    assert "CTR@1, day by day" in words(ola.get(f"{judged}/{LOG}"))
    assert "Clicks a page, day by day" in words(ola.get(f"{judged}/{LOG}&by=clicks_per_page"))
    assert "CTR@1, day by day" in words(ola.get(f"{judged}/{LOG}&by=nonsense"))


def test_interleaved_lists_are_told_of(visit: Visit, news: str) -> None:
    ola = visit("ola")
    answer = add(ola, news, interleaving_text(), kind="interleaving", bootstraps="y")
    said = words(ola.get(answer.location))
    assert "alpha beta 30 10 4 +0.2273 +0.2273" in said
    assert "exact binomial test of the wins without ties, one list per user" in said
    assert "Users prefer alpha." in said
    # Every user of another log has all eleven lists of a kind, and 4 users are too few to be sure.
    lists = interleaving_text().splitlines(keepends=True)
    few = "".join(
        [lists[0], *(re.sub(r",u(\d+),", lambda user: f",u{int(user[1]) // 11},", line) for line in lists[1:])]
    )
    said = words(ola.get(add(ola, news, few, kind="interleaving", name="Few").location))
    assert "t test over users, as users have several lists" in said
    assert "No significant preference." in said
    nobody = "".join([lists[0], *(re.sub(r",u\d+,", ",,", line) for line in lists[1:])])
    said = words(ola.get(add(ola, news, nobody, kind="interleaving", name="Nobody").location))
    assert "no result is called significant" in said
    assert "No significant preference." in said
    assert "lists with a click that counts 44" in said
    for table in ("variants", "pairs", "queries"):
        assert ola.get(f"{news}/clicks/log.csv?name=March&table={table}").status_code == 200
    assert ola.get(f"{news}/clicks/log.csv?name=March&table=positions").status_code == 404


def test_what_does_not_count_is_told_by_reason_and_is_a_file(visit: Visit, news: str) -> None:
    ola = visit("ola")
    stray = "2026-03-09T09:00:00Z,u,s,1,alpha,1,1,b,click,\n"
    answer = add(ola, news, log_text() + stray)
    assert "clicks on results that were not shown: 1." in words(ola.get(answer.location))
    rows = unquoted(ola.get(f"{news}/clicks/log.csv?name=March&table=dropped").text).splitlines()
    assert rows == ["reason,events", "click without impression,1"]
    # The first click stands there twice, and is on the same result once more a second later.
    lists = interleaving_text()
    click = lists.splitlines()[2]
    later = click.replace("09:00:00", "09:00:01")
    other = add(ola, news, f"{lists}{click}\n{later}\n", kind="interleaving", name="Lists")
    said = words(ola.get(other.location))
    assert "Events that do not count: duplicate events in the log: 1." in said
    assert "Clicks that count for no run: again on the same result: 1." in said
    rows = unquoted(ola.get(f"{news}/clicks/log.csv?name=Lists&table=dropped").text).splitlines()
    assert rows == ["reason,count", "again on the same result,1", "duplicate,1"]


def test_a_log_in_another_shape_is_read_by_a_mapping(visit: Visit, news: str) -> None:
    # A line is a result that was shown, 1 where it was clicked: 3 of 6 against 1 of 6.
    lines = "".join(f"{arm},{place % 3 + 1},{clicks}\n" for arm, hits in (("A", 3), ("B", 1))
                    for place, clicks in enumerate([1] * hits + [0] * (6 - hits)))  # fmt: skip
    ola = visit("ola")
    answer = add(
        ola, news, f"arm,slot,clicked\n{lines}", columns="variant=arm position=slot", click_column="clicked", name="rec"
    )
    assert answer.status_code == 303, words(answer)
    assert "Not available: the log does not say which user an event is of." in words(ola.get(answer.location))


@pytest.mark.parametrize(
    ("text", "fields", "said"),
    [
        ("", {}, "The file is empty."),
        (HEADINGS + "yesterday,u,s,q,A,1,1,a,click,\n", {}, "log.csv:2"),
        (log_text(), {"first": "alpha", "second": "gamma"}, "The log has no variant “gamma”"),
        (log_text(), {"columns": "nonsense"}, "“nonsense” is not of the form NAME=NAME"),
        (log_text(), {"share": "2"}, "The share of the first variant is above 0 and below 1."),
        (log_text(), {"days": "none"}, "Write a whole number."),
        (log_text(), {"name": ""}, "This field is required."),
    ],
)
def test_what_is_wrong_is_said_on_the_page_of_the_form(
    visit: Visit, news: str, database: Database, text: str, fields: dict[str, str], said: str
) -> None:
    answer = add(visit("ola"), news, text, **fields)
    assert (answer.status_code, said in words(answer)) == (422, True), words(answer)
    with database.reading() as session:
        assert list_logs(session, SLUG) == []


def test_variants_are_linked_and_a_log_is_removed(visit: Visit, judged: str, database: Database) -> None:
    ola = visit("ola")
    assert ola.post(f"{judged}/{LOG}", variant=["alpha", "beta"], run=["", "alpha"]).status_code == 303
    with database.reading() as session:
        assert list_logs(session, SLUG)[0].runs == {"alpha": None, "beta": "alpha"}
    assert ola.post(f"{judged}/{LOG}", variant=["alpha"], run=["nothing"]).status_code == 422
    assert ola.post(f"{judged}/{LOG}", variant=["alpha", "beta"], run=[""]).status_code == 422
    assert ola.post(f"{judged}/clicks/remove?name=March").status_code == 303
    assert "There is no click log yet." in words(ola.get(f"{judged}/clicks"))
    assert ola.get(f"{judged}/{LOG}").status_code == 404
    with database.reading() as session:
        actions = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert actions == ["clicks.link", "clicks.remove"]


def test_clicks_and_judgements_stand_together_and_the_documents_go_into_the_pool(
    visit: Visit, judged: str, database: Database
) -> None:
    ola = visit("ola")
    page = ola.get(f"{judged}/together")
    said = words(page)
    assert "They disagree" not in said  # two topics are few
    assert "March (CTR@1) -0.2500" in said
    assert "Documents that are not in the pool yet: 1." in said
    for part in TogetherTable:
        assert len(ola.get(f"{judged}/together.csv?table={part}").text.splitlines()) > 1, part
    answer = ola.post(f"{judged}/together?log=March")
    assert answer.location == f"{judged}/together?m=nDCG@10&log=March"
    after = words(ola.get(answer.location))
    assert "Added to the pool: 1. Version 2 is now active." in after
    assert "All of them that this collection knows are in the pool." in after
    assert ola.post(f"{judged}/together").status_code == 422
    with database.reading() as session:
        assert list(session.scalars(select(Pool.strategy).order_by(Pool.version))) == ["depth", "clicks"]
    assert "what users clicked" in words(ola.get(f"{judged}/pool"))


def test_without_a_log_or_a_judgement_the_page_says_so(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    page = ola.get(f"{news}/together")
    assert (page.status_code, "There is no click log in this collection yet." in words(page)) == (200, True)
    with database.transaction() as session:
        stored_log(session, log_text(variants={"alpha": "old", "beta": "new"}))
    said = words(ola.get(f"{news}/together"))
    assert "March new no run" in said
    assert "No log has two variants linked to active runs." in said
    assert ola.get(f"{news}/together?m=nonsense").status_code == 422
    assert ola.get(f"{news}/together?log=April").status_code == 404
    assert ola.get(f"{news}/together.csv?table=nonsense").status_code == 404


def test_every_code_has_its_words() -> None:
    assert set(click_log_form.CHECK_STATES) == set(CheckState)
    assert set(click_log_form.METHODS) == set(Method)
    assert set(click_log_form.LOG_KINDS) == set(LogKind)
    assert set(click_log_form.REASONS) == {*Dropped, *Outside, *Uncounted}
    assert set(click_log_form.VERDICTS) == set(Verdict)
    assert set(click_log_form.STANDINGS) == set(Standing)
