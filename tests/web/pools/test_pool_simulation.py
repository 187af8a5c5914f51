"""Strategies simulated on the judgements of the collection, and the replay of adaptive choices, as a page."""

from build import labels
from visiting import Visit, words

from annotator.storage import Database


def test_strategies_are_compared_by_what_they_find_with_fewer_judgements(
    visit: Visit, news: str, database: Database
) -> None:
    ola = visit("ola")
    empty = ola.get(f"{news}/pool/simulation")
    assert (empty.status_code, "Nothing is judged yet" in words(empty)) == (200, True)
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 e 1\n")
    page = words(ola.get(f"{news}/pool/simulation?strategy=depth&strategy=rrf"))
    assert "judged documents" in page
    assert "Share of the judgements (%) Documents Depth-k union of runs Reciprocal rank fusion" in page or (
        "Share of the judgements (%) Documents depth-k union of runs reciprocal rank fusion" in page
    )
    assert "Replay of the adaptive choices" not in page
    assert ola.get(f"{news}/pool/simulation?strategy=nothing").status_code == 422


def test_stopping_rules_are_tried_when_asked_for(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 e 1\n")
    ola = visit("ola")
    address = f"{news}/pool/simulation?strategy=rrf"
    assert "Mean recall" not in words(ola.get(address))
    page = words(ola.get(f"{address}&stopping=1&target=0.7"))
    assert "how often recall 0.7 was reached" in page
    assert "knee heuristic" in page
    refused = ola.get(f"{address}&stopping=1&sample_share=2")
    assert (refused.status_code, "between 0 and 1, not 2.0" in words(refused)) == (422, True)
