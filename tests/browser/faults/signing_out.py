"""Signing out as a person does."""

from playwright.sync_api import Page


def sign_out(page: Page, server: str) -> None:
    """Sign out on one's own page; what is held goes back to the queue."""
    page.goto(f"{server}/account")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url(f"{server}/sign-in*")
