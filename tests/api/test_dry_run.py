"""Imports by program that only check and count."""

import pytest
from calling import NEWS, Caller

pytestmark = pytest.mark.usefixtures("news")

FILES = {
    "topics": "1\tnew words for one\n7\tseventh topic\n",
    "documents": '{"docno": "a", "body": "Text of a."}\n',
}


@pytest.mark.parametrize("noun", FILES)
def test_a_dry_run_answers_as_the_import_does_and_stores_nothing(program: Caller, noun: str) -> None:
    ola = program("ola")
    foreseen = ola.send(f"{NEWS}/{noun}", FILES[noun], dry_run="true")
    again = ola.send(f"{NEWS}/{noun}", FILES[noun], dry_run="true")
    stored = ola.send(f"{NEWS}/{noun}", FILES[noun])
    assert (foreseen.status_code, stored.status_code) == (200, 200)
    assert foreseen.json == again.json == stored.json
    assert ola.send(f"{NEWS}/{noun}", FILES[noun]).json["added"] == 0
