"""Every page, form, command and operation is in the matrix of ways, with a reason for each way that is missing."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from visiting import shared_application
from ways_matrix import WAYS

from annotator.api.site.door import OPERATIONS, PREFIX

SITE = "site "
# Addresses that are no pages: files and parts of pages, and what machines ask for.
FILE = re.compile(r"\.(csv|js|json|jsonl|txt)$|/parts/")
FOR_MACHINES = {"static", "health.alive", "health.ready"}
# By their options they do two things: with `--adjudicate`, the commands of judges decide.
IN_TWO_ROWS = {
    "qrels export",
    "site questions list",
    "site runs compare",
    "judge draw",
    "judge grade",
    "judge import",
    "judge list",
}


def pages(method: str) -> set[str]:
    rules = shared_application().url_map.iter_rules()
    return {one.endpoint for one in rules if method in (one.methods or ()) and not one.rule.startswith(PREFIX)}


def files() -> set[str]:
    return {one.endpoint for one in shared_application().url_map.iter_rules() if FILE.search(one.rule)}


def commands() -> set[str]:
    """Every command, those of a remote site after “site”."""
    described = json.loads(resources.files("annotator.cli").joinpath("commands.json").read_text(encoding="utf-8"))
    return {*leaves(described["database"]), *(SITE + one for one in leaves(described["site"]))}


def leaves(group: Mapping[str, Any], *before: str) -> Iterator[str]:
    for name, one in group.items():
        if "commands" in one:
            yield from leaves(one["commands"], *before, name)
        else:
            yield " ".join((*before, name))


def listed(way: int) -> list[str]:
    return [name for ways in WAYS.values() for name in ways.listed()[way]]


def test_every_page_form_command_and_operation_has_a_row() -> None:
    assert pages("POST") - set(listed(0)) == set()
    assert pages("GET") - files() - FOR_MACHINES - set(listed(0)) == set()
    assert commands() - set(listed(1)) == set()
    assert set(OPERATIONS) - set(listed(2)) == set()


def test_every_row_names_what_there_is() -> None:
    assert set(listed(0)) - pages("POST") - pages("GET") == set()
    assert set(listed(1)) - commands() == set()
    assert set(listed(2)) - set(OPERATIONS) == set()


def test_nothing_has_two_rows() -> None:
    assert [name for name, count in Counter(listed(2)).items() if count > 1] == []
    assert {name for name, count in Counter(listed(0)).items() if count > 1} == set()
    assert {name for name, count in Counter(listed(1)).items() if count > 1} <= IN_TWO_ROWS


def test_a_way_is_missing_for_a_reason_and_only_then() -> None:
    wrong = []
    for name, ways in WAYS.items():
        reasons = (ways.no_page, ways.no_command, ways.no_operation)
        wrong += [name for found, reason in zip(ways.listed(), reasons, strict=True) if bool(found) is bool(reason)]
    assert wrong == []
