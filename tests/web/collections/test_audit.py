"""The audit log as pages: what is done by page stands there, for organisers of the collection and administrators."""

import csv
from io import StringIO

from build import labels
from csv_cells import unquoted
from visiting import Visit, words

from annotator.storage import Database
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.tables.collections import Door
from annotator.web.site.context import now


def test_what_is_done_by_page_stands_in_the_log(visit: Visit, news: str) -> None:
    ola = visit("ola")
    ola.post(f"{news}/members", name="pat", role="observer")
    ola.post(f"{news}/pool", strategy="depth", depth="1", seed="1", showing="random", confirmed="y")
    ola.get(f"{news}/judgements/file")
    ola.post(f"{news}/members", name="nobody", role="judge")  # refused, so not done
    answer = ola.get(f"{news}/audit.csv")
    assert answer.headers["Content-Disposition"] == "attachment; filename=news-audit.csv"
    assert (answer.mimetype, answer.is_streamed) == ("text/csv", True)
    lines = list(csv.DictReader(StringIO(answer.text)))
    assert [(line["name"], line["door"], line["action"], line["subject"]) for line in lines] == [
        ("ola", "page", "judgements.export", ""),
        ("ola", "page", "pool.build", "1"),
        ("ola", "page", "members.add", "pat"),
    ]
    assert lines[-1]["details"] == '{"role": "observer"}'
    page = words(ola.get(f"{news}/audit"))
    assert "members.add pat role: observer" in page


def test_the_log_is_narrowed_by_the_address(visit: Visit, news: str) -> None:
    ola, ada = visit("ola"), visit("ada")
    ola.post(f"{news}/close")
    ada.post(f"{news}/reopen")
    assert "collections.close" in table_of(ola.get(f"{news}/audit?by=ola").text)
    assert "collections.reopen" not in table_of(ola.get(f"{news}/audit?by=ola").text)
    assert "collections.close" not in table_of(ola.get(f"{news}/audit?action=collections.reopen").text)
    assert "No matching entries." in words(ola.get(f"{news}/audit?until=2001-01-01"))
    refused = ola.get(f"{news}/audit?since=yesterday")
    assert refused.status_code == 422
    assert "“yesterday” is not a moment" in words(refused)


def test_administrators_see_the_whole_site_and_organisers_their_collection(visit: Visit, news: str) -> None:
    visit("ada").post("/people/password", account="jo", new_password="correct horse staple")
    assert "users.password" in table_of(visit("ada").get("/audit").text)
    assert "users.password" in visit("ada").get("/audit.csv").text
    assert "users.password" not in table_of(visit("ola").get(f"{news}/audit").text)
    assert visit("ola").get("/audit").status_code == 403


def test_older_deeds_stand_on_further_pages(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        for number in range(101):
            record_in(session, Actor(Door.API, "bot"), "runs.import", "news", at=now(), subject=f"run{number}")
    first = visit("ola").get(f"{news}/audit?by=bot").text
    assert "run100<" in first
    assert "run0<" not in first
    assert "by=bot" in first.partition('rel="next"')[0].rpartition("<a ")[2]
    assert "run0<" in visit("ola").get(f"{news}/audit?by=bot&before=2").text


def table_of(page: str) -> str:
    return page.partition("<tbody>")[2].partition("</tbody>")[0]


def test_the_hours_of_judges_stand_on_a_page_and_in_a_file(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    ola = visit("ola")
    assert "jo 2026-03 2 0 0.00 2" in words(ola.get(f"{news}/judges/hours"))
    assert "jo 2026-03-01 2 0 0.00 2" in words(ola.get(f"{news}/judges/hours?by=day&from=2026-03-01&to=2026-03-01"))
    assert "No judgements in this period." in words(ola.get(f"{news}/judges/hours?from=2026-03-02"))
    assert unquoted(ola.get(f"{news}/judges/hours.csv?by=all").text).splitlines()[1] == "jo,,2,0,0.0,2"
    refused = ola.get(f"{news}/judges/hours?from=today")
    assert refused.status_code == 422
    assert "“today” is not a moment" in words(refused)
