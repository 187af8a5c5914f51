"""A participant ticks two runs of the team in the table of scores, and reads which one leads."""

from browser.pages import TEXTS, loaded, sign_in
from browser.test_every_page import Watch, audit
from build import SLUG, run
from playwright.sync_api import Page

from annotator.storage import Database

SCORES = f"/collections/{SLUG}/scores"


def test_two_ticks_lead_to_an_accessible_comparison(page: Page, server: str, served: Database) -> None:
    with served.transaction() as session:
        run(session, "alpha2", {"1": list(TEXTS)[4:10], "2": ["d11", "d10"]}, team="red")
    watch = Watch(page, server)
    sign_in(page, server, "pat", SCORES)
    compare = page.get_by_role("button", name="Compare the two")
    assert not compare.is_visible()
    for tag in ("alpha", "alpha2"):
        page.get_by_label(f"Compare {tag}", exact=True).press("Space")
    compare.press("Enter")
    loaded(page, page.get_by_role("heading", name="Tests of the difference"))
    assert page.get_by_text("nDCG@10: alpha leads by").is_visible()
    assert audit(page, server, f"{SCORES}?m=AP") + audit(page, server, page.url.removeprefix(server)) == []
    assert watch.complaints == []
