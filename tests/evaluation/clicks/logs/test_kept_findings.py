"""Findings that come from elsewhere: those that were kept are taken, and none that is not whole or of another kind."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from clicking import interleaving_text, log_text

from annotator.clicks.evaluation.logs.log_findings import LogKind, are_findings, findings_from_json
from annotator.clicks.evaluation.logs.log_studying import LogRequest, StudiedLog, study_log


@cache
def found(kind: LogKind) -> StudiedLog:
    text = log_text() if kind is LogKind.COMPARISON else interleaving_text()
    return study_log([("log.csv", text.encode())], LogRequest("March", kind), {"1": "first"})


def kept(kind: LogKind) -> dict[str, Any]:
    """The same after JSON."""
    said: dict[str, Any] = json.loads(json.dumps(found(kind).findings.to_json(), allow_nan=False))
    return said


@pytest.mark.parametrize("kind", LogKind)
def test_what_is_kept_comes_back_from_json_as_it_was(kind: LogKind) -> None:
    assert findings_from_json(kept(kind)) == found(kind).findings
    assert are_findings(found(kind).options, kept(kind))


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a part is missing": lambda said: said["comparison"].pop("checks"),
    "a number is text": lambda said: said["comparison"]["measures"][0].update(first="high"),
    "a number is none that can be": lambda said: said["comparison"]["measures"][0].update(first=float("nan")),
    "a count is a fraction": lambda said: said["comparison"]["positions"][0].update(shown=0.5),
    "there is no such measure": lambda said: said["comparison"]["measures"][0].update(measure="charm"),
    "a sentence lacks a value": lambda said: said["comparison"]["checks"][0]["sentence"].update(template="%(more)s"),
    "another pair of variants": lambda said: said["comparison"]["variants"][0].update(name="gamma"),
    "nothing at all": lambda said: said.update(comparison=None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_whole_is_no_finding(change: str) -> None:
    said = kept(LogKind.COMPARISON)
    CHANGES[change](said)
    assert not are_findings(found(LogKind.COMPARISON).options, said)


def test_options_of_another_kind_or_none_are_not_those_of_the_log() -> None:
    said = kept(LogKind.INTERLEAVING)
    assert not are_findings(found(LogKind.COMPARISON).options, said)
    assert not are_findings({}, said)
    assert not are_findings({**found(LogKind.INTERLEAVING).options, "files": [1]}, said)
