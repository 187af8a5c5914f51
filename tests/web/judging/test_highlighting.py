"""The organisers' switch for highlighting: no words reach the screen, and the judge's own switch is absent."""

import json
from typing import Any

from visiting import Visit, words
from werkzeug.test import TestResponse

from annotator.storage import Database
from annotator.workflows.collections.collection import CollectionChange, change_collection


def words_on(page: TestResponse) -> list[Any]:
    data = page.text.split('<script type="application/json" id="batch">')[1].split("</script>", maxsplit=1)[0]
    found: list[Any] = json.loads(data)["topic"]["words"]
    return found


def test_no_words_are_highlighted_where_the_organisers_switched_it_off(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    page = jo.get(f"{news}/judge/topics/1", follow_redirects=True)
    assert (words_on(page) != [], 'id="marking-on"' in page.text) == (True, True)
    assert "Words are highlighted" in words(visit("ola").get(f"{news}/settings"))
    with database.transaction() as session:
        change_collection(session, "news", CollectionChange(judges_highlight=False))
    page = jo.get(f"{news}/judge/topics/1", follow_redirects=True)
    assert (words_on(page), 'id="marking-on"' in page.text) == ([], False)
    assert "The organisers switched the highlighting of words off." in words(page)
    assert "mark a word in all documents" not in words(page)
