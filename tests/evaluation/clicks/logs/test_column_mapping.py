"""How a log that was written otherwise is to be read, and what contradicts itself."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from annotator.clicks.evaluation.logs.click_log import Event
from annotator.clicks.evaluation.logs.column_mapping import (
    FIELDS,
    USUAL_MAPPING,
    LogMapping,
    parse_mapping,
    variant_of_name,
)
from annotator.errors import InvalidValueError

BOTH = "Where lines have a column of clicks, they have no events and no values."


def test_nothing_said_is_the_format_itself() -> None:
    assert parse_mapping() == USUAL_MAPPING
    assert USUAL_MAPPING.fields() == {field: field for field in FIELDS}
    assert USUAL_MAPPING.event_names() == {event.name.lower(): event for event in Event}


def test_columns_and_events_are_given_by_our_names_first() -> None:
    mapping = parse_mapping(["user = visitor", "docno=a=b"], ["click=tap", "click=press"])
    assert mapping.fields()["user"] == "visitor"
    assert mapping.fields()["docno"] == "a=b"
    assert {name for name, event in mapping.event_names().items() if event is Event.CLICK} == {"click", "tap", "press"}


def test_a_column_of_clicks_stands_for_events_and_values() -> None:
    assert parse_mapping(click_column="clicked").fields() == {
        **{field: field for field in FIELDS if field not in {"event", "value"}},
        "click": "clicked",
    }


def test_a_mapping_can_be_kept_as_plain_values_and_come_back() -> None:
    mapping = parse_mapping(["user=visitor"], ["click=tap"], drops_bad_lines=True)
    assert LogMapping(**asdict(mapping)) == mapping


@pytest.mark.parametrize(
    ("columns", "events", "options", "sentence"),
    [
        (["user"], [], {}, "“user” is not of the form NAME=NAME, the format's name first, then the log's."),
        (["=x"], [], {}, "“=x” is not of the form NAME=NAME, the format's name first, then the log's."),
        (["user=a", "user=b"], [], {}, "The column “user” is given twice."),
        (
            ["visitor=user"],
            [],
            {},
            f"A log has no column “visitor”; it has {', '.join(FIELDS)}.",
        ),
        (
            [],
            ["view=impression"],
            {},
            "There is no event “view”; there are impression, click, dwell, rating, conversion.",
        ),
        (
            ["variant=arm"],
            [],
            {"variant_from_name": True},
            "The variant comes from the file's name or from a column, not from both.",
        ),
        ([], ["click=tap"], {"click_column": "c"}, BOTH),
        (["value=v"], [], {"click_column": "c"}, BOTH),
    ],
)
def test_what_contradicts_itself_is_refused(
    columns: Sequence[str], events: Sequence[str], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        parse_mapping(columns, events, **options)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("new.csv", "new"),
        ("logs/bts.men.csv.gz", "bts.men"),
        ("old.JSONL.GZ", "old"),
        ("week.12", "week.12"),
        ("plain", "plain"),
    ],
)
def test_the_variant_of_a_name_is_without_folder_and_format(name: str, variant: str) -> None:
    assert variant_of_name(name) == variant
