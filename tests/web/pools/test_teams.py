"""The page of teams and overlap of runs."""

from build import SLUG, labels, member
from build import news as build_news
from visiting import Visit, words

from annotator.storage import Database, Role


def test_teams_and_overlap_are_shown_for_all_runs(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")
    page = words(visit("ola").get(f"{news}/pool/teams"))
    assert "of 1 relevant documents" in page
    assert "have most in common:" in page
    assert "of their top 10." in page


def test_the_depth_is_chosen_and_checked(visit: Visit, news: str) -> None:
    ola = visit("ola")
    assert "of their top 2." in words(ola.get(f"{news}/pool/teams?depth=2"))
    assert "No document is relevant by the current qrels." in words(ola.get(f"{news}/pool/teams"))
    refused = ola.get(f"{news}/pool/teams?depth=1001")
    assert refused.status_code == 422
    assert "A depth is from 1 to 1000, not 1001." in words(refused)


def test_without_runs_the_page_says_so(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        build_news(session)
        member(session, "ola", Role.ORGANISER)
    assert "There is no run yet." in words(visit("ola").get(f"/collections/{SLUG}/pool/teams"))


def test_judges_may_not_see_it(visit: Visit, news: str) -> None:
    assert visit("jo").get(f"{news}/pool/teams").status_code == 403
