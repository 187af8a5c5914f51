"""Reads the names of measures as people write them: nDCG@10, AP(rel=2), trec_eval's ndcg_cut_10."""

import re
from difflib import get_close_matches

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.measures import MEASURES, Cutoff, Measure

# A name; what stands in brackets; and a cutoff, after @ or, as in trec_eval's output and options, after _ or a dot.
WRITTEN = re.compile(r"([A-Za-z_]+?)(?:\((.*)\))?(?:@(.*)|[_.](-?[0-9].*))?")
REL = re.compile(r"\s*rel\s*=(.*)", re.IGNORECASE)
WHOLE_NUMBER = re.compile(r"0*[1-9][0-9]{0,8}")

NAMES = {written: name for name, definition in MEASURES.items() for written in (name.lower(), *definition.also_called)}


def parse_measure(text: str) -> Measure:
    """Read a measure's name, in any mixture of capitals; `str()` of the result is the name we print.

    The form is `Name`, `Name@cutoff`, `Name(rel=grade)` or `Name(rel=grade)@cutoff`, or a name of trec_eval's such as
    `map`, `P_10`, `ndcg_cut.10`, `recip_rank`. Raises `InvalidValueError` for an unknown measure, naming the nearest
    ones, and for a cutoff or rel the measure cannot take.
    """
    match = WRITTEN.fullmatch(text.strip())
    written, brackets, after_at, after_name = match.groups() if match else (text, None, None, None)
    if written.lower() not in NAMES:
        raise _unknown(text, written)
    name = NAMES[written.lower()]
    return Measure(name, _cutoff(name, after_at if after_name is None else after_name), _rel(name, brackets or ""))


def _cutoff(name: str, written: str | None) -> int | None:
    wanted = MEASURES[name].cutoff
    if written is None:
        if wanted is Cutoff.NEEDED:
            raise InvalidValueError("%(name)s needs a cutoff, such as %(name)s@10.", name=name)
        return None
    if wanted is Cutoff.NEVER:
        raise InvalidValueError("%(name)s takes no cutoff; write just %(name)s.", name=name)
    if not WHOLE_NUMBER.fullmatch(written.strip()):
        raise InvalidValueError(
            "The cutoff of %(name)s must be a whole number from 1 to 999999999, not “%(cutoff)s”.",
            name=name,
            cutoff=written,
        )
    return int(written)


def _rel(name: str, brackets: str) -> int | None:
    if not brackets.strip():
        return None
    match = REL.fullmatch(brackets)
    if match is None:
        raise InvalidValueError("%(name)s does not take “%(brackets)s” in brackets.", name=name, brackets=brackets)
    if not MEASURES[name].is_binary:
        raise InvalidValueError(
            "%(name)s takes no rel, since it does not ask from which grade on documents are relevant.", name=name
        )
    written = match.group(1).strip()
    if not WHOLE_NUMBER.fullmatch(written):
        raise InvalidValueError(
            "The rel of %(name)s must be a whole number from 1 to 999999999, not “%(rel)s”.", name=name, rel=written
        )
    return int(written)


def _unknown(text: str, written: str) -> InvalidValueError:
    near = get_close_matches(written.lower(), NAMES, n=3, cutoff=0.5)
    if near:
        nearest = ", ".join(dict.fromkeys(NAMES[one] for one in near))
        return InvalidValueError(
            "There is no measure “%(text)s”; the nearest names are: %(nearest)s.", text=text, nearest=nearest
        )
    return InvalidValueError(
        "There is no measure “%(text)s”; the measures are: %(names)s.", text=text, names=", ".join(MEASURES)
    )
