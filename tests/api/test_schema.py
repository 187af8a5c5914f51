"""The OpenAPI document describes what there is, and whatever it allows, and more, meets no fault."""

from functools import cache
from typing import Any

import pytest
import schemathesis
from build import labels, member
from calling import API, token_of
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from thorough import examples

from annotator.api.site.door import OPERATIONS
from annotator.storage import Database, Role

# Of each operation, as often with what the document allows as with what it does not.
EXAMPLES = examples(200, otherwise=3)
DOCUMENT = f"{API}/openapi.json"
CONFORMS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.status_code_conformance,
]


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """One kind of database: that each answers alike, the other tests see."""
    return sqlite_database


@pytest.fixture
def document(app: Flask) -> Any:  # noqa: ANN401 - JSON
    """The document as it is served."""
    return app.test_client().get(DOCUMENT).json


def test_the_document_is_openapi_3_1_and_has_every_operation_with_its_gate(document: Any) -> None:  # noqa: ANN401
    assert document["openapi"] == "3.1.0"
    assert document["security"] == [{"token": []}]
    described = {
        one["operationId"]: one
        for path in document["paths"].values()
        for method, one in path.items()
        if method != "parameters"
    }
    assert set(described) == {endpoint.split(".")[1] for endpoint in OPERATIONS}
    for endpoint, operation in OPERATIONS.items():
        one = described[endpoint.split(".")[1]]
        assert one["summary"].endswith(".")
        assert set(one["x-scopes"]) == set(operation.gate.scopes)
        assert one["responses"]["default"]


def test_the_page_for_people_has_every_operation_and_object_and_asks_nobody_else(app: Flask, document: Any) -> None:  # noqa: ANN401
    page = app.test_client().get(f"{API}/")
    assert page.status_code == 200
    named = [endpoint.split(".")[1] for endpoint in OPERATIONS] + list(document["components"]["schemas"])
    assert [name for name in named if f'id="{name}"' not in page.text] == []
    assert "http" not in page.text.replace("http-equiv", "")


def test_json_comes_first_refusals_are_named_and_pages_are_counted_in_a_text(document: Any) -> None:  # noqa: ANN401
    for path in document["paths"].values():
        for one in (operation for method, operation in path.items() if method != "parameters"):
            assert {"400", "401", "403"} <= set(one["responses"])
            assert one["description"]
            for answer in one["responses"].values():
                media = list(answer.get("content", {}))
                assert "application/json" not in media[1:]
    assert document["components"]["headers"]["PAGINATION"]["schema"] == {"type": "string"}


@cache
def operations_of(app: Flask) -> Any:  # noqa: ANN401 - Schemathesis has no name for it
    """The operations as the document describes them, read once."""
    return schemathesis.openapi.from_wsgi(DOCUMENT, app)


@pytest.mark.parametrize("endpoint", sorted(OPERATIONS))
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_whatever_is_sent_meets_no_fault_and_is_answered_as_described(
    app: Flask, database: Database, news: None, endpoint: str, mode: schemathesis.GenerationMode
) -> None:
    del news
    with database.transaction() as session:
        member(session, "ada", Role.JUDGE)
        member(session, "ada", Role.PARTICIPANT, team="red")
        labels(session, "ann", "1 0 a 1\n1 0 d 0\n2 0 a 1\n")
    token = token_of(database, "ada")
    operation = operations_of(app).find_operation_by_id(endpoint.split(".")[1])

    @settings(
        max_examples=EXAMPLES,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case: schemathesis.Case[Any]) -> None:
        if "slug" in case.path_parameters:
            case.path_parameters["slug"] = "news"
        answer = case.call(headers={"Authorization": f"Bearer {token}"})
        case.validate_response(answer, checks=CONFORMS)

    call()
