"""Every page: no accessibility violation, nothing from elsewhere, nothing the policy forbids, fit for a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.pages import (
    ADJUDICATORS_PAGES,
    JUDGES_PAGES,
    OBSERVERS_PAGES,
    ORGANISERS_PAGES,
    PARTICIPANTS_PAGES,
    sign_in,
)
from build import SLUG
from playwright.sync_api import ConsoleMessage, Page, Request, ViewportSize

AXE = Axe().axe_script
VIOLATIONS = "axe.run({resultTypes: ['violations']}).then(results => results.violations)"
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}


class Watch:
    """Notes what a page asks for from elsewhere and what the browser complains of."""

    def __init__(self, page: Page, server: str) -> None:
        """Begin to watch."""
        self.server = server
        self.complaints: list[str] = []
        page.on("request", self.on_request)
        page.on("console", self.on_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def on_request(self, request: Request) -> None:
        if not request.url.startswith((self.server, "data:")):
            self.complaints.append(f"asks for {request.url}")

    def on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


def audit(page: Page, server: str, path: str) -> list[str]:
    """What is wrong with the page at `path`: in the dark on a phone, and in light on a desk."""
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.goto(f"{server}{path}")
    page.evaluate(AXE)
    faults = faults_of(page, f"{path} (dark phone)")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    if (
        "/judge" in path or "/adjudicate" in path or "/review" in path
    ):  # the judging screen looks at the width when it opens, every other page leaves it to its style
        page.reload()
        page.evaluate(AXE)
    return faults + faults_of(page, f"{path} (light desk)")


def faults_of(page: Page, place: str) -> list[str]:
    """What is wrong with an open page, into which axe has been put."""
    faults = [
        f"{place}: {violation['id']}: {node['html']}"
        for violation in page.evaluate(VIOLATIONS)
        for node in violation["nodes"]
    ]
    width, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    if width > room:
        faults.append(f"{place}: {width} wide in a window of {room}")
    return faults


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        (
            "ola",
            [
                *(
                    "/",
                    "/collections",
                    "/people",
                    "/people/invitations",
                    "/audit",
                    "/account",
                    "/account/tokens",
                    "/account/second-factor",
                    "/account/passkeys",
                    "/account/identities",
                    "/account/email",
                    "/account/email/confirm",
                    "/measures",
                    "/files",
                    "/api/v1/",
                ),
                *(f"/collections/{SLUG}{path}" for path in ORGANISERS_PAGES),
            ],
        ),
        ("jo", ["/", *(f"/collections/{SLUG}{path}" for path in JUDGES_PAGES)]),
        ("eve", ["/", *(f"/collections/{SLUG}{path}" for path in ADJUDICATORS_PAGES)]),
        ("oli", ["/", *(f"/collections/{SLUG}{path}" for path in OBSERVERS_PAGES)]),
        ("pat", ["/", *(f"/collections/{SLUG}{path}" for path in PARTICIPANTS_PAGES)]),
    ],
    ids=["organiser", "judge", "adjudicator", "observer", "participant"],
)
def test_every_page_is_accessible_narrow_enough_and_self_contained(
    page: Page, server: str, name: str, paths: list[str]
) -> None:
    watch = Watch(page, server)
    faults = audit(page, server, "/sign-in")
    sign_in(page, server, name)
    for path in paths:
        faults += audit(page, server, path)
    assert faults == []
    assert watch.complaints == []


def test_pages_of_refusals_are_accessible(page: Page, server: str) -> None:
    sign_in(page, server, "ola")
    assert audit(page, server, "/nowhere") == []
    assert audit(page, server, "/collections/nowhere") == []
    assert audit(page, server, f"/collections/{SLUG}/leaderboard?m=nDGC") == []
    assert audit(page, server, f"/collections/{SLUG}/search?q=cats+AND") == []


def test_a_run_with_problems_is_refused_on_the_page_with_every_line(page: Page, server: str) -> None:
    sign_in(page, server, "ola", f"/collections/{SLUG}/runs")
    bad = b"1 Q0 d01 1 9 gamma\n1 Q0 d02 2 many gamma\n7 Q0 d01 1 5 gamma\n"
    page.get_by_role("button", name="Upload runs").click()
    form = page.locator("form").filter(has=page.locator("input[type=file]")).first
    form.locator("input[type=file]").first.set_input_files(
        {"name": "gamma.run", "mimeType": "text/plain", "buffer": bad}
    )
    form.get_by_role("button", name="Check and edit").click()
    page.get_by_text("gamma.run:2").wait_for()
    page.get_by_text("gamma.run:3").wait_for()
    page.goto(f"{server}/collections/{SLUG}/runs")
    assert "gamma" not in page.locator("table").all_inner_texts()[0]
