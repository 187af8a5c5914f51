"""README, datasheet, citation and metadata of a kit, by what is known."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # it ships no types

from annotator.evaluation.publishing.citation import citation_cff, zenodo_json
from annotator.evaluation.publishing.croissant import croissant_json
from annotator.evaluation.publishing.kit_facts import (
    Agreement,
    KitFacts,
    MachineUsed,
    PoolBuilt,
    datasheet,
    readme,
)
from annotator.evaluation.publishing.kit_files import ABOUT, PRELS, Publication, WrittenFile

MANIFEST: dict[str, Any] = {
    "counts": {
        "qrels_lines": 1234,
        "lines_by_grade": {"0": 1000, "1": 234},
        "topics": 9,
        "judges": 3,
        "judgements": 1300,
        "unjudged": 5,
        "could_not_be_judged": 1,
        "in_dispute": 2,
        "decided_by_adjudicators": 1,
    },
    "dropped_topics": [{"number": "4"}],
    "scale": [{"value": 0, "name": "No", "description": "a | b"}, {"value": 1, "name": "Yes", "description": ""}],
    "relevant_from": 1,
    "consensus": "The grade most judges gave.",
    "counts_machines": False,
    "sha256": "e4585d405783" + "0" * 52,
}
PUBLICATION = Publication(
    slug="news",
    version=2,
    veiled=False,
    with_texts=False,
    measures=("AP",),
    authors=(),
    licence="",
    address="",
    made_at=datetime(2026, 3, 1, 9, tzinfo=UTC),
    program="0.1.0",
)
FACTS = KitFacts(
    publication=PUBLICATION,
    title='News: "search"',
    kept_at=datetime(2026, 2, 1, tzinfo=UTC),
    manifest=MANIFEST,
    topics=10,
    runs=2,
    teams=1,
    documents=0,
    agreement=Agreement(40, 0.875, 0.7, (0.6, 0.8)),
    machines=[],
    pools=[PoolBuilt(1, "depth", "depth 10", 7, 2)],
    files=[path for path in ABOUT if path != PRELS],
)


def test_the_datasheet_has_what_is_known() -> None:
    text = datasheet(FACTS).decode()
    for part in (
        "10 topics, 1,234 relevance judgements and 2 runs (teams: 1).",
        "Dropped topics: 1.",
        "| 0 | No | a \\| b | 1,000 |",
        "| 1 | depth | depth 10 | 2 | 7 |",
        "Judges: 3, with 1,300 judgements.",
        "40 documents were graded by two or more. Two judges gave the same grade to 87.5% of them",
        "Krippendorff's ordinal alpha is 0.700 (95 % interval by topics 0.600 to 0.800).",
        "No machine judged.",
        "Licence: not stated.",
        "The texts of the documents are not part of the kit.",
    ):
        assert part in text


def test_the_datasheet_of_another_collection_says_so() -> None:
    machines = [
        MachineUsed("gpt", "ab12", "2026-01-01", "one response"),
        MachineUsed("", None, None, ""),
    ]
    other = replace(
        FACTS,
        publication=replace(PUBLICATION, veiled=True, with_texts=True, licence="CC0-1.0"),
        manifest={**MANIFEST, "counts_machines": True},
        documents=5,
        agreement=Agreement(0, None, None, None),
        machines=machines,
        pools=[],
        files=[*FACTS.files, PRELS],
    )
    text = datasheet(other).decode()
    for part in (
        "no document was graded by two people independently",
        "Labels of machines count in these qrels beside those of people.",
        "| gpt | ab12 | 2026-01-01 | one response |",
        "| not stated | not stated | not stated |  |",
        "imported, without a pool of runs",
        "A part was drawn at random",
        "The names of teams and runs are replaced by pseudonyms",
        "The texts of the documents that have one are part of the kit.",
    ):
        assert part in text
    undefined = replace(FACTS, agreement=Agreement(3, None, None, None), machines=machines)
    assert "an undefined share of them; Krippendorff's ordinal alpha is undefined." in datasheet(undefined).decode()
    assert "Labels of machines do not count in these qrels." in datasheet(undefined).decode()


def test_the_readme_names_files_and_scores() -> None:
    text = readme(FACTS).decode()
    assert "| `qrels.txt` |" in text
    assert "| `prels.txt` |" not in text
    assert "version 2 of the qrels, kept on 2026-02-01 (SHA-256 begins with e4585d405783)" in text
    assert 'ir_datasets.load("news")' in text
    without_runs = readme(replace(FACTS, runs=0, documents=4, publication=replace(PUBLICATION, veiled=True))).decode()
    assert "## Scores" not in without_runs
    assert "are not part of this kit" not in without_runs
    assert "replaced by pseudonyms" in without_runs


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        ((), [{"name": 'The organisers of News: "search"'}]),
        (("Doe, Jo", "News group"), [{"family-names": "Doe", "given-names": "Jo"}, {"name": "News group"}]),
        (("Doe,",), [{"name": "Doe,"}]),
    ],
)
def test_authors_are_persons_or_groups(authors: tuple[str, ...], expected: list[dict[str, str]]) -> None:
    read = yaml.safe_load(citation_cff(replace(FACTS, publication=replace(PUBLICATION, authors=authors))))
    assert read["authors"] == expected
    # What the Citation File Format 1.2.0 requires.
    assert {"cff-version", "message", "title", "authors"} <= read.keys()
    assert (read["type"], read["title"], read["date-released"]) == ("dataset", 'News: "search"', "2026-03-01")


@pytest.mark.parametrize(
    ("licence", "cited", "deposited"),
    [
        ("CC-BY-4.0", {"license": "CC-BY-4.0"}, {"license": "cc-by-4.0"}),
        ("https://example.org/l", {"license-url": "https://example.org/l"}, {}),
        ("for research only", {}, {}),
    ],
)
def test_a_licence_is_named_where_the_format_knows_it(
    licence: str, cited: dict[str, str], deposited: dict[str, str]
) -> None:
    facts = replace(FACTS, publication=replace(PUBLICATION, licence=licence, address="https://example.org/news"))
    read = yaml.safe_load(citation_cff(facts))
    assert {key: value for key, value in read.items() if key.startswith("license")} == cited
    assert read["url"] == "https://example.org/news"
    zenodo = json.loads(zenodo_json(facts))
    assert {key: value for key, value in zenodo.items() if key == "license"} == deposited
    assert (zenodo["upload_type"], zenodo["publication_date"]) == ("dataset", "2026-03-01")


def test_the_metadata_has_every_file_with_its_checksum() -> None:
    files = [WrittenFile("runs.csv", "a" * 64, 7), WrittenFile("runs/x.run.gz", "b" * 64, 9)]
    read = json.loads(croissant_json(FACTS, files, ["AP"]))
    assert [(one["@id"], one["sha256"], one["contentSize"]) for one in read["distribution"]] == [
        ("runs.csv", "a" * 64, "7 B"),
        ("runs/x.run.gz", "b" * 64, "9 B"),
    ]
    assert [one["name"] for one in read["recordSet"]] == ["runs"]
    assert read["license"] == "Not stated: ask the organisers."
    assert "url" not in read
    placed = replace(FACTS, publication=replace(PUBLICATION, address="https://example.org/news"))
    assert json.loads(croissant_json(placed, files, []))["url"] == "https://example.org/news"
