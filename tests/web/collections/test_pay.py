"""The pay of judges: a price stands beside hours where a collection states it, and nowhere else."""

from build import NOW, SLUG, labels
from visiting import Visit, words

from annotator.reporting import report_html
from annotator.storage import Database
from annotator.workflows.collections.collection import show_collection
from annotator.workflows.leaderboard.overview_report import OverviewRequest, ReportSection, overview_report

FIELDS = {
    "title": "News search",
    "kind": "shared-task",
    "scale": "0=Not relevant\n1=Relevant\n2=Highly relevant",
    "relevant_from": "1",
    "judgements_wanted": "2",
    "consensus_policy": "majority-first",
}
PLAN = "pool/plan?strategy=depth&depth=5"


def test_the_pay_is_a_setting_and_prices_stand_beside_hours(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert "EUR" not in words(ola.get(f"{news}/{PLAN}"))
    assert ola.post(f"{news}/settings", **FIELDS, pay_per_hour="240", pay_currency="eur").status_code == 303
    with database.reading() as session:
        shown = show_collection(session, SLUG)
    assert (shown.pay_per_hour, shown.pay_currency) == (240, "EUR")
    # Six documents, two judgements each, 30 seconds a judgement: 0.1 hours.
    assert "Price, about (EUR) 24" in words(ola.get(f"{news}/{PLAN}"))
    fields = {**FIELDS, "judgements_wanted": "4", "pay_per_hour": "240", "pay_currency": "EUR"}
    more = words(ola.post(f"{news}/settings", **fields))
    assert "Price, about 24 EUR" in more
    assert "Price, about (EUR)" in words(ola.get(f"{news}/pool/holes"))
    assert "EUR" not in words(visit("jo").get(f"{news}/judge"))
    assert ola.post(f"{news}/settings", **FIELDS).status_code == 303
    assert "EUR" not in words(ola.get(f"{news}/{PLAN}"))


def test_a_pay_that_is_none_is_refused(visit: Visit, news: str) -> None:
    ola = visit("ola")
    answer = ola.post(f"{news}/settings", **FIELDS, pay_per_hour="20", pay_currency="euros")
    assert (answer.status_code, "three letters, such as EUR" in words(answer)) == (422, True)
    assert ola.post(f"{news}/settings", **FIELDS, pay_per_hour="-1", pay_currency="EUR").status_code == 422
    assert ola.post(f"{news}/settings", **FIELDS, pay_per_hour="nan", pay_currency="EUR").status_code == 422


def test_the_report_names_the_pay(visit: Visit, news: str, database: Database) -> None:
    visit("ola").post(f"{news}/settings", **FIELDS, pay_per_hour="20", pay_currency="EUR")
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")
    request = OverviewRequest(("AP",), sections=(ReportSection.JUDGING,))
    with database.reading() as session:
        page = report_html(overview_report(session, SLUG, request, made_at=NOW, version="0.1.0")).decode()
    assert "At 20 EUR per hour" in page
