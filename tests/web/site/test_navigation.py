"""The menu of a collection: every page has its entry and tab, and nobody is shown a link that refuses them."""

import re
from itertools import pairwise

import pytest
from access_matrix import MATRIX
from visiting import Visit, Visitor


def entries_of(page: str) -> list[str]:
    """The labels of the menu."""
    menu = re.search(r'<nav class="menu".*?</nav>', page, re.DOTALL)
    assert menu is not None
    return [re.sub(r"<.*?>", "", link).strip() for link in re.findall(r"<a .*?</a>", menu[0], re.DOTALL)]


def links_of(page: str) -> list[str]:
    """The addresses of menu, tabs and views."""
    bars = re.findall(r'<nav class="(?:menu|tabs|views)".*?</nav>', page, re.DOTALL)
    return [link for bar in bars for link in re.findall(r'href="(/collections/[^"#]*)"', bar)]


def opened(visitor: Visitor, path: str, seen: dict[str, int]) -> dict[str, int]:
    """The status of every page that menu, tabs and views lead to."""
    page = visitor.get(path)
    seen[path] = page.status_code
    for link in links_of(page.text):
        if link not in seen:
            opened(visitor, link, seen)
    return seen


def test_an_organiser_has_ten_entries(visit: Visit, news: str) -> None:
    assert entries_of(visit("ola").get(news).text) == [
        *("Overview", "Topics", "Documents", "Runs", "Pool", "Judging", "Agreement", "Results", "Publish", "Settings")
    ]


def test_judges_have_three_entries_and_participants_four(visit: Visit, news: str) -> None:
    assert entries_of(visit("jo").get(news).text) == ["Overview", "Judge", "My judgements"]
    assert entries_of(visit("pat").get(news).text) == ["Overview", "Topics", "Runs", "Results"]


@pytest.mark.parametrize("name", ["ola", "jo", "pat"])
def test_nobody_is_shown_a_link_that_refuses_them(visit: Visit, news: str, name: str) -> None:
    seen = opened(visit(name), news, {})
    assert {path: status for path, status in seen.items() if status != 200} == {}
    assert len(seen) > {"ola": 35, "jo": 5, "pat": 4}[name]


@pytest.mark.parametrize("name", ["ola", "jo", "pat"])
def test_every_page_of_a_collection_marks_its_entry(visit: Visit, news: str, name: str) -> None:
    visitor, marked = visit(name), {}
    for endpoint, row in MATRIX.items():
        if row.method == "GET" and row.path.startswith(news):
            page = visitor.get(row.path)
            is_page = (page.status_code, page.mimetype) == (200, "text/html")
            if is_page and (menu := re.search(r'<nav class="menu".*?</nav>', page.text, re.DOTALL)):
                marked[endpoint] = "aria-current" in menu[0]
    assert [endpoint for endpoint, is_marked in marked.items() if not is_marked] == []
    assert len(marked) > {"ola": 35, "jo": 5, "pat": 4}[name]


def test_the_current_entry_tab_and_view_are_marked(visit: Visit, news: str) -> None:
    page = visit("ola").get(f"{news}/judges/hours").text
    marked = re.findall(r'aria-current="(\w+)"[^>]*>(?:<svg.*?</svg>)?([^<]*)<', page, re.DOTALL)
    assert marked[:3] == [("true", "Agreement"), ("true", "Judges and hours"), ("page", "Hours")]
    assert all(first != second for first, second in pairwise(marked))


def test_an_address_with_a_trailing_slash_leads_to_its_page(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/runs/?sort=tag")
    assert (answer.status_code, answer.location) == (308, f"{news}/runs?sort=tag")
    assert visit("ola").get(f"{news}/nowhere/").status_code == 404


def test_the_old_address_of_a_page_leads_to_it(visit: Visit, news: str) -> None:
    answer = visit("ola").get(f"{news}/test-questions")
    assert (answer.status_code, answer.location) == (308, f"{news}/gold-questions")
