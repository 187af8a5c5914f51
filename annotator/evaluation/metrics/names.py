"""Reads the names of measures as people write them: nDCG@10, AP(rel=2), RBP(p=0.95), trec_eval's ndcg_cut_10."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.measures import MEASURES, Cutoff, Measure
from annotator.evaluation.metrics.parameters import (
    ALSO_CALLED,
    PARAMETERS,
    Value,
    read_cutoff,
    read_level,
    read_parameter,
    show,
)
from annotator.evaluation.metrics.trec_eval_names import FAMILIES, NICKNAMES, measures_of_trec_eval

# A name; what stands in brackets; and a cutoff.
WRITTEN = re.compile(r"([A-Za-z0-9_]+)\s*(?:\((.*)\))?(?:@(.*))?")
# What commas part, but not those in a pair of curly brackets or quotation marks.
PART = r"""(?:[^,(){}'"]|\{[^{}'"]*\}|'[^']*'|"[^"]*")+"""
PARTS = re.compile(PART)
WELL_FORMED = re.compile(rf"\s*|{PART}(?:,{PART})*")

NAMES = {written: name for name, definition in MEASURES.items() for written in (name.lower(), *definition.also_called)}
# What is shown when nobody says what.
DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10", "RR", "Judged@10")


def parse_measures(texts: Iterable[str]) -> tuple[Measure, ...]:
    """Read names of measures, each once in the order in which they come first.

    Beside what `parse_measure` reads: trec_eval's families, such as `P` or `P.5,10`, and its sets `official`, `set`
    and `all_trec`. Raises `InvalidValueError` as `parse_measure` does.
    """
    return tuple(dict.fromkeys(measure for text in texts for measure in _of_trec_eval(text) or [parse_measure(text)]))


def parse_measure(text: str) -> Measure:
    """Read a measure's name, in any mixture of capitals; `str()` of the result is the name we print.

    The form is `Name`, `Name@cutoff`, `Name(parameter=value,...)@cutoff`, or a name of trec_eval's that stands for
    one measure, such as `map`, `P_10`, `ndcg_cut.10`, `recip_rank`. Raises `InvalidValueError` for an unknown measure,
    naming the nearest ones, and for a cutoff or parameter the measure cannot take.
    """
    of_trec_eval = _of_trec_eval(text)
    if len(of_trec_eval) > 1:
        raise InvalidValueError(
            "“%(text)s” stands for %(count)d measures; name one of them, such as %(first)s.",
            text=text,
            count=len(of_trec_eval),
            first=of_trec_eval[0],
        )
    return of_trec_eval[0] if of_trec_eval else _our_measure(text)


def _of_trec_eval(text: str) -> list[Measure]:
    """Read a name of trec_eval's; nothing when it is none."""
    measures = measures_of_trec_eval(text)
    if measures == []:
        raise InvalidValueError(
            "“%(text)s” is no measure but a line of trec_eval's output; only that format shows it.", text=text
        )
    return measures or []


def _our_measure(text: str) -> Measure:
    match = WRITTEN.fullmatch(text.strip())
    written, brackets, cutoff_written = match.groups() if match else (text, None, None)
    if written.lower() not in NAMES:
        raise _unknown(text, written)
    name = NAMES[written.lower()]
    if not WELL_FORMED.fullmatch(brackets or ""):
        raise InvalidValueError(
            "The brackets of “%(text)s” are not well-formed; they should look as in P(rel=2,judged_only=True)@10.",
            text=text,
        )
    cutoff = _cutoff(name, cutoff_written)
    return Measure(name, cutoff, _parameters(name, brackets or "", cutoff))


def _cutoff(name: str, written: str | None) -> int | float | None:
    wanted = MEASURES[name].cutoff
    if written is None:
        if wanted is Cutoff.NEEDED:
            raise InvalidValueError("%(name)s needs a cutoff, such as %(name)s@10.", name=name)
        if wanted is Cutoff.LEVEL:
            raise InvalidValueError("%(name)s needs a level, such as %(name)s@0.1.", name=name)
        return None
    if wanted is Cutoff.NEVER:
        raise InvalidValueError("%(name)s takes no cutoff; write just %(name)s.", name=name)
    return read_level(name, written) if wanted is Cutoff.LEVEL else read_cutoff(name, written)


def _parameters(name: str, brackets: str, cutoff: float | None) -> tuple[tuple[str, Value], ...]:
    said: dict[str, Value] = {}
    for part in PARTS.findall(brackets) if brackets.strip() else ():
        written, equals, value = part.partition("=")
        parameter = ALSO_CALLED.get(written.strip().lower(), written.strip().lower())
        if not equals or parameter not in PARAMETERS:
            raise InvalidValueError("%(name)s does not take “%(brackets)s” in brackets.", name=name, brackets=part)
        if parameter in said:
            raise InvalidValueError("%(name)s has %(parameter)s twice.", name=name, parameter=parameter)
        said[parameter] = _parameter(name, parameter, value.strip())
    _check_together(name, said, cutoff)
    usual = MEASURES[name].takes
    return tuple((each, said[each]) for each in PARAMETERS if each in said and said[each] != usual.get(each))


def _parameter(name: str, parameter: str, written: str) -> Value:
    takes = (*MEASURES[name].takes, "judged_only")
    if parameter not in takes:
        if parameter == "rel":
            raise InvalidValueError(
                "%(name)s takes no rel, since it does not ask from which grade on documents are relevant.", name=name
            )
        raise InvalidValueError(
            "%(name)s takes no %(parameter)s; it takes %(takes)s.",
            name=name,
            parameter=parameter,
            takes=", ".join(takes),
        )
    return read_parameter(name, parameter, written)


def _check_together(name: str, said: dict[str, Value], cutoff: float | None) -> None:
    for needed in MEASURES[name].needs:
        if needed not in said:
            raise InvalidValueError(
                "%(name)s needs the number of documents in the corpus, such as %(name)s(docs=100000).", name=name
            )
    if "norm" in said and cutoff is None:
        raise InvalidValueError("%(name)s takes a norm only with a cutoff, such as %(name)s(norm=min)@10.", name=name)
    if name == "RBP" and "rel" in said and ("gain" in said or "max" in said):
        raise InvalidValueError("RBP takes either rel (binary) or gain and max (graded), not both.")
    if name == "RBP" and "max" in said and "gain" not in said:
        raise InvalidValueError(
            "RBP takes max only with gain, such as RBP(gain=linear,max=%(max)s).", max=show(said["max"])
        )


def _unknown(text: str, written: str) -> InvalidValueError:
    known = {**{name.lower(): name for name in (*FAMILIES, *NICKNAMES)}, **NAMES}
    near = get_close_matches(written.lower(), known, n=3, cutoff=0.5)
    if near:
        nearest = ", ".join(dict.fromkeys(known[one] for one in near))
        return InvalidValueError(
            "There is no measure “%(text)s”; the nearest names are: %(nearest)s.", text=text, nearest=nearest
        )
    return InvalidValueError(
        "There is no measure “%(text)s”; the measures are: %(names)s.", text=text, names=", ".join(MEASURES)
    )
