"""Reports on pages are computed once, until their collection changes."""

from collections.abc import Callable
from typing import Any

import pytest
from build import SLUG, labels, pool, pooled_news, run, topic_file
from build import news as make_news
from sqlalchemy import update
from visiting import Visit, words

from annotator.storage import Collection, Database
from annotator.web.agreement import judges
from annotator.web.leaderboard import quality
from annotator.web.site.memories import MOST_REPORTS, ReportCache

PAGES = [
    (quality, "correlate", "correlation"),
    (judges, "machine_reports", "agreement/machines"),
    (quality, "leave_out_report", "quality/leave-out"),
]


@pytest.mark.parametrize(("module", "name", "path"), PAGES)
def test_a_page_is_computed_again_after_its_collection_changed_and_not_after_another_did(
    visit: Visit, news: str, database: Database, monkeypatch: pytest.MonkeyPatch, module: object, name: str, path: str
) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n")
    computed = []
    make: Callable[..., Any] = getattr(module, name)

    def counted(*given: Any, **further: Any) -> Any:  # noqa: ANN401 - whatever the workflow takes and gives
        computed.append(given)
        return make(*given, **further)

    monkeypatch.setattr(module, name, counted)
    ola = visit("ola")
    first = words(ola.get(f"{news}/{path}"))
    assert words(ola.get(f"{news}/{path}")) == first
    assert len(computed) == 1
    # What else is asked for is another report, of each collection.
    ola.get(f"{news}/{path}?m=P@1")
    assert ola.get(f"/collections/none/{path}").status_code == 404
    assert len(computed) == 2
    with database.transaction() as session:
        make_news(session, "other")
        topic_file(session, slug="other")
        run(session, "alpha", {"1": ["a"]}, slug="other")
        pool(session, slug="other")
        labels(session, "nist", "1 0 a 1\n", slug="other")
    assert words(ola.get(f"{news}/{path}")) == first
    assert len(computed) == 2
    with database.transaction() as session:
        labels(session, "two", "1 0 a 0\n2 0 a 0\n")
    ola.get(f"{news}/{path}")
    assert len(computed) == 3


def test_a_correlation_shows_a_judgement_stored_since(visit: Visit, news: str, database: Database) -> None:
    for grades in (5, 6):
        with database.transaction() as session:
            labels(session, "nist", "1 0 a 1\n1 0 b 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n" + "1 0 c 1\n" * (grades - 5))
        assert f"{grades} grades" in words(visit("ola").get(f"{news}/correlation"))


def test_the_state_changes_with_each_commit_of_any_connection(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
    before = database.state()
    with database.reading() as session:
        session.get(Collection, 1)
    assert database.state() == before
    other = Database(database.engine.url.render_as_string(hide_password=False))
    with other.transaction() as session:
        session.execute(update(Collection).values(title="Other"))
    other.close()
    assert database.state() != before
    before = database.state()
    with database.transaction() as session:
        session.execute(update(Collection).values(title="Own"))
    assert database.state() != before


def test_a_connection_opened_again_gives_another_state(sqlite_database: Database) -> None:
    """SQLite counts for each connection from the same number."""
    before = sqlite_database.state()
    sqlite_database.close()
    assert sqlite_database.state() not in {None, before}
    sqlite_database.close()


def test_a_database_in_memory_keeps_no_report() -> None:
    database = Database("sqlite://")
    assert database.state() is None
    made = iter(range(5))
    cache = ReportCache()
    assert [cache.report(database, SLUG, "key", lambda _session: next(made)) for _ in range(2)] == [0, 1]
    database.close()


def test_the_reports_used_last_are_kept(sqlite_database: Database) -> None:
    cache, made = ReportCache(), []
    with sqlite_database.transaction() as session:
        pooled_news(session)

    def report(key: int) -> None:
        cache.report(sqlite_database, SLUG, key, lambda _session: made.append(key))

    for key in range(MOST_REPORTS):
        report(key)
    report(0)
    report(MOST_REPORTS)
    report(0)
    assert made == list(range(MOST_REPORTS + 1))
    report(1)
    assert made[-1] == 1
