"""Parses requests of the judging screen's script; each act is accepted or rejected independently."""

import math
from dataclasses import dataclass

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.storage import CannotJudge
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import REASONS
from annotator.workflows.judging.act_decisions import Act, check_id

# The range of an integer column in every database.
GREATEST = 2**31 - 1
MOST_HELD = 1_000
NAMELESS = ""


@dataclass(frozen=True)
class Sent:
    """A request from one tab: acts, malformed acts by id, and the assignments on screen."""

    acts: tuple[Act, ...]
    refused: tuple[tuple[str, AnnotatorError], ...]
    holds: frozenset[int]
    draws: bool


def read_sent(body: object) -> Sent:
    """Parse `{"tab", "holds", "draw", "acts"}`; `InvalidValueError` for any other structure."""
    if not isinstance(body, dict) or not isinstance(body.get("acts", []), list):
        raise InvalidValueError("This address takes a JSON object with a list “acts”.")
    tab, holds = body.get("tab", ""), body.get("holds", [])
    if not isinstance(tab, str) or not isinstance(holds, list) or len(holds) > MOST_HELD:
        raise InvalidValueError("“tab” must be a text and “holds” a list of assignments.")
    acts, refused = [], []
    for act in body.get("acts", []):
        try:
            acts.append(_act(act, tab))
        except InvalidValueError as error:
            refused.append((_id(act), error))
    held = frozenset(_whole(one, "holds") for one in holds)
    return Sent(tuple(acts), tuple(refused), held, body.get("draw") is not False)


def _act(act: object, tab: str) -> Act:
    if not isinstance(act, dict) or not isinstance(act.get("id"), str):
        raise InvalidValueError("An act is a JSON object with an “id”.")
    check_id(act["id"])
    evidence = act.get("evidence") or []
    if not isinstance(evidence, list):
        raise InvalidValueError("“%(name)s” does not fit.", name="evidence")
    return Act(
        id=act["id"],
        assignment_id=_whole(act.get("assignment"), "assignment"),
        decision=_decision(act),
        withdraws=_withdrawn(act),
        topic=_text_or_none(act, "topic"),
        docno=_text_or_none(act, "docno"),
        again=act.get("again") is True,
        tab=tab,
        sequence=_whole_or_none(act, "sequence"),
        guidelines=_whole_or_none(act, "guidelines"),
        evidence=tuple(_passage(one) for one in evidence),
        ago=_seconds(act.get("ago")) or 0.0,
    )


def _decision(act: dict[str, object]) -> Decision | None:
    kind = act.get("kind")
    if kind in {"later", "withdraw"}:
        return None
    note = act.get("note") or ""
    if kind not in {"grade", "cannot"} or not isinstance(note, str):
        raise InvalidValueError("“%(name)s” does not fit.", name="note" if kind in {"grade", "cannot"} else "kind")
    seconds = _seconds(act.get("seconds"))
    if kind == "grade":
        grade = act.get("grade")
        if not isinstance(grade, int) or isinstance(grade, bool) or abs(grade) > GREATEST:
            raise InvalidValueError("This is not a grade of the scale.")
        return Decision(grade, None, note, seconds)
    reason = act.get("cannot_judge")
    if not isinstance(reason, str) or reason not in REASONS:
        raise InvalidValueError("“%(name)s” does not fit.", name="cannot_judge")
    return Decision(None, CannotJudge(reason), note, seconds)


def _withdrawn(act: dict[str, object]) -> str | None:
    """The id of the judgement that the act withdraws, None for other acts."""
    if act.get("kind") != "withdraw":
        return None
    judgement = act.get("judgement")
    if not isinstance(judgement, str):
        raise InvalidValueError("“%(name)s” does not fit.", name="judgement")
    return judgement


def _text_or_none(act: dict[str, object], name: str) -> str | None:
    text = act.get(name)
    if text is not None and not isinstance(text, str):
        raise InvalidValueError("“%(name)s” does not fit.", name=name)
    return text


def _passage(value: object) -> Passage:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise InvalidValueError("“%(name)s” does not fit.", name="evidence")
    return Passage(_whole(value.get("start"), "evidence"), _whole(value.get("end"), "evidence"), value["text"])


def _whole_or_none(act: dict[str, object], name: str) -> int | None:
    return None if act.get(name) is None else _whole(act[name], name)


def _whole(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= GREATEST:
        raise InvalidValueError("“%(name)s” does not fit.", name=name)
    return value


def _seconds(value: object) -> float | None:
    """Seconds measured by the page; malformed values do not invalidate a judgement."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None


def _id(act: object) -> str:
    """The id of a malformed act, so that the script can match the error to it."""
    id_ = act.get("id") if isinstance(act, dict) else None
    return id_[:64] if isinstance(id_, str) and id_.isascii() else NAMELESS
