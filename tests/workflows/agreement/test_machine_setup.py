"""Machine judges are added in versions, each with labels of its own; what cannot be asked is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from build import SLUG, labels, pooled_news
from machine_judging import NAME, PRICES, add, settings_for
from model_server import KEY, MODEL, ModelServer

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.machine_judging.prompts import BUILT_IN
from annotator.evaluation.machine_judging.tokens import Prices
from annotator.storage import Database
from annotator.workflows.agreement import machine_setup
from annotator.workflows.agreement.machine_setup import MachineSettings
from annotator.workflows.agreement.model_requests import ModelAccess, ModelError
from annotator.workflows.collections import collection


@pytest.fixture(autouse=True)
def pooled(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)


def test_versions_are_numbered_and_shown(database: Database, model_server: ModelServer) -> None:
    first = settings_for(model_server)
    second = replace(first, prompt_name="umbrela", prompt=BUILT_IN["umbrela"], prices=PRICES)
    add(database, first)
    added = add(database, second)
    add(database, first, "another")
    listed = database.read(machine_setup.list_versions, SLUG)
    assert [(one.name, one.number, one.judge) for one in listed] == [
        ("another", 1, "another-v1"),
        (NAME, 1, "robot-v1"),
        (NAME, 2, "robot-v2"),
    ]
    assert [one.settings for one in listed] == [first, first, second]
    assert database.read(machine_setup.show_version, SLUG, NAME) == added
    assert machine_setup.noted(added) == {"model": MODEL, "host": "127.0.0.1", "samples": 1}
    table = machine_setup.settings_table(added)
    assert (table["price_sent"], table["price_received"], table["currency"]) == (1.0, 2.0, "EUR")
    for name, number, sentence in [
        ("nobody", None, "no machine judge “nobody”"),
        (NAME, 3, "no version 3, but 1 to 2"),
    ]:
        with pytest.raises(NotFoundError, match=sentence):
            database.read(machine_setup.show_version, SLUG, name, number)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": " "}, "Name the model"),
        ({"model": "x" * 201}, "Name the model"),
        ({"prompt_name": ""}, "Name the prompt"),
        ({"prompt": "{wat}"}, "“{wat}”, which is no variable"),
        ({"samples": 0}, "samples: a whole number from 1 to 25, not 0."),
        ({"samples": 3}, "Several samples at temperature 0"),
        ({"temperature": float("nan")}, "The temperature is a number from 0 to 2."),
        ({"temperature": 2.1}, "The temperature is a number from 0 to 2."),
        ({"parallel": 65}, "parallel: a whole number from 1 to 64"),
        ({"text_tokens": 0}, "text tokens: a whole number"),
        ({"answer_tokens": 0}, "answer tokens: a whole number"),
        ({"prices": Prices(1.0)}, "Give both prices"),
        ({"endpoint": "https://elsewhere.org/v1"}, "This server may not send to “elsewhere.org”"),
        ({"endpoint": "ftp://elsewhere.org/v1"}, "is not an address of the form"),
        ({"endpoint": "http://me:secret@127.0.0.1/v1"}, "has a user name or a password in it"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    database: Database, model_server: ModelServer, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(AnnotatorError) as refused:
        add(database, settings_for(model_server, **changes))
    assert sentence in str(refused.value)
    assert database.read(machine_setup.list_versions, SLUG) == []


def test_the_labels_of_a_person_or_another_machine_are_not_taken_over(
    database: Database, model_server: ModelServer
) -> None:
    with database.transaction() as session:
        labels(session, "jo-v1", "1 0 b 2\n")
    with pytest.raises(ConflictError, match="The judge “jo-v1” is a person here"):
        add(database, settings_for(model_server), "jo")
    add(database, settings_for(model_server))
    with pytest.raises(ConflictError, match="Version 1 of “robot” has exactly these settings"):
        add(database, settings_for(model_server))


def test_built_in_prompts_have_names() -> None:
    assert machine_setup.built_in_names() == ("plain", "umbrela")
    assert machine_setup.named_prompt("plain") == MachineSettings("", "").prompt
    with pytest.raises(InvalidValueError, match="no built-in prompt “x”, but plain, umbrela"):
        machine_setup.named_prompt("x")


def test_a_key_is_read_where_the_settings_say_and_is_in_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    monkeypatch.setenv("SOME_KEY", "other")
    access = ModelAccess((), (f"api.example.org={path}", "models.example.org=env:SOME_KEY"))
    assert access.key_of("https://API.example.org/v1") == KEY
    assert access.key_of("https://models.example.org/v1") == "other"
    assert access.key_of("https://else.example.org/v1") == ""
    assert [access.has_key(f"https://{host}.example.org") for host in ("api", "else")] == [True, False]
    assert str(path) not in repr(access)
    for content in ("", "two\nlines", "한글"):
        path.write_text(content)
        with pytest.raises(ModelError, match=r"The key for “api\.example\.org” cannot be read"):
            access.key_of("https://api.example.org/v1")


def test_a_closed_collection_takes_no_machine_judge(database: Database, model_server: ModelServer) -> None:
    with database.transaction() as session:
        collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="closed"):
        add(database, settings_for(model_server))
