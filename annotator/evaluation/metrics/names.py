"""Parses the names of measures: nDCG@10, AP(rel=2), trec_eval's ndcg_cut_10; suggestions and help."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.metrics.measures import MEASURES, NAMES, Cutoff, Measure
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

# A name; parameters in brackets; and a number, with or without a sign or "at" before it.
LOOSE_FORM = re.compile(r"(.+?)(?:\((.*)\))?(?:(?:_at_|[@_\s-]*)([0-9]+(?:\.[0-9]+)?))?", re.IGNORECASE | re.DOTALL)
NO_PART_OF_A_NAME = re.compile(r"[^a-z0-9]")
LEAST_WANTED = 0.25  # with less, INST has probabilities above 1
MOST_NEAREST = 3
LEAST_LIKENESS = 0.5

# Names in scikit-learn, ranx, ir_measures, pytrec_eval and in papers; without what is neither letter nor digit.
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "SetF": ("f", "f1", "fscore", "f1score", "fmeasure", "f1measure", "fbeta", "fbetascore", "setf1"),
    "SetP": ("setprecision",),
    "SetR": ("setrec",),
    "P": ("prec", "precisionat", "precat", "precisionscore"),
    "R": ("rec", "recallat", "recat", "recallscore", "sensitivity"),
    "RR": ("reciprocalrank", "meanreciprocalrank", "reciprank", "mrrat", "rrat"),
    "AP": ("avgp", "avep", "avgprec", "averageprecision", "averageprecisionscore", "meanaverageprecision", "mapat"),
    "nDCG": ("ndcgat", "ndcgscore", "normalizeddcg", "normaliseddcg"),
    "DCG": ("dcgat", "dcgscore"),
    "Success": ("hits", "hitat", "hitsat", "hitratio", "hr", "successat", "successrate"),
    "Rprec": ("rprecision",),
    "ERR": ("errat", "expectedreciprocalrank"),
    "RBP": ("rankbiasedprecision",),
    "RBPResidual": ("residual",),
    "Accuracy": ("acc", "accuracyscore"),
    "IPrec": ("iprecatrecall", "interpolatedprecision", "precisionatrecall"),
    "11ptAvg": ("11pt", "11ptap", "elevenpointaverage"),
    "alpha_nDCG": ("andcg", "alphandcg", "andcgat", "alphandcgat"),
    "alpha_DCG": ("adcg", "alphadcg"),
    "AP_IA": ("mapia", "apia"),
    "P_IA": ("pia", "precisionia"),
    "ERR_IA": ("erria",),
    "nERR_IA": ("nerria",),
    "StRecall": ("strec", "srecall", "subtopicrecall"),
    "Compat": ("compatibility",),
    "Judged": ("judgedat", "judgedrate"),
    "TP": ("truepositives",),
    "FP": ("falsepositives",),
    "FN": ("falsenegatives",),
    "TN": ("truenegatives",),
}


def _bare(written: str) -> str:
    return NO_PART_OF_A_NAME.sub("", written.lower())


# By bare name; later ones take precedence.
LIKELY: Mapping[str, str] = (
    {bare: name for name, others in ELSEWHERE.items() for bare in others}
    | {_bare(family): entry.measure for family, entry in FAMILIES.items() if entry.measure is not None}
    | {_bare(other): name for other, name in NAMES.items() if other.isascii()}
)
# By lower-case name.
ALL_NAMES: Mapping[str, str] = {name.lower(): name for name in (*FAMILIES, *NICKNAMES)} | {
    other: name for other, name in NAMES.items() if other.isascii()
}


def likely_forms(written: str) -> Iterator[str]:
    """Yield likely meanings of a name, most likely first; `parse_measure` decides which are valid.

    Nothing when no other tool has such a name.
    """
    match = LOOSE_FORM.fullmatch(written.strip())
    # The digits may belong to the name, as in F1, or be a cutoff, as in MRR10.
    parts = [(match[1], match[2], match[3])] if match else []
    if match and match[3] and match[2] is None:
        parts.append((match[1] + match[3], None, None))
    for name, brackets, cutoff in parts:
        if (likely := LIKELY.get(_bare(name))) is not None:
            inside = f"({brackets})" if brackets else ""
            yield from (f"{likely}{inside}@{cutoff}",) if cutoff else ()
            yield f"{likely}{inside}"
            yield from (f"{likely}{inside}@{example}" for example in ("10", "0.1"))


def nearest_names(written: str) -> list[str]:
    """Return at most three similar names; nothing when none is similar."""
    near = get_close_matches(written.lower(), ALL_NAMES, n=MOST_NEAREST, cutoff=LEAST_LIKENESS)
    return list(dict.fromkeys(ALL_NAMES[one] for one in near))


# A name, which may begin with an alpha; parameters in brackets; and a cutoff. Suggestions have this form, also across
# lines.
FORM = re.compile(r"([A-Za-z\u03b10-9_]+)\s*(?:\((.*)\))?(?:@(.*))?", re.DOTALL)
# A cutoff and, out of place, parameters in brackets.
CUTOFF_FIRST = re.compile(r"([^()]*)\((.*)\)", re.DOTALL)
# Comma-separated parts, except within brackets.
LISTED = re.compile(r"(?:[^,(]|\([^)]*\)?)+")
# A continuation of a trec_eval name after a comma: 10 as in P.5,10, or 2=9 as in ndcg.1=3,2=9.
GOES_ON = re.compile(r"\s*[0-9.][0-9.eE+=-]*\s*")
# Comma-separated parts, except within curly brackets or quotation marks.
PART = r"""(?:[^,(){}'"]|\{[^{}'"]*\}|'[^']*'|"[^"]*")+"""
PARTS = re.compile(PART)
WELL_FORMED = re.compile(rf"\s*|{PART}(?:,{PART})*")

# The default measures.
DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10", "RR", "Judged@10")
DEFAULTS_IN_TREC_EVAL = tuple(name for name in DEFAULT_MEASURES if not name.startswith("Judged"))
USUAL_MEASURE = DEFAULT_MEASURES[0]  # the default measure of reports that rank runs by one
# The measures that organisers' forms offer as choices; any other can be entered as text.
OFFERED_MEASURES = (
    *("nDCG@10", "nDCG@20", "nDCG", "AP", "P@5", "P@10", "P@20", "R@100", "R@1000", "RR", "RR@10"),
    *("Rprec", "Bpref", "Success@1", "Success@10", "Judged@10", "NumRet", "NumRel", "NumRelRet"),
)


# Names of several measures, beside trec_eval's: those of CLEF's eHealth task of 2017 for an order of screening.
SETS: Mapping[str, tuple[str, ...]] = {
    "tar": (
        "last_rel",
        "WSS@0.95",
        "WSS@1",
        *(f"NCG@{tenth / 10:g}" for tenth in range(1, 11)),
        "norm_area",
        "AP",
        "loss_e",
        "loss_r",
        "loss_er",
    )
}


def parse_measures(texts: Iterable[str]) -> tuple[Measure, ...]:
    """Parse names of measures, deduplicated, in order of first occurrence.

    Beside what `parse_measure` reads: several names separated by commas, as `split_names` splits them; trec_eval's
    families, such as `P` or `P.5,10`, and its sets `official`, `set` and `all_trec`; and `SETS`. Raises
    `InvalidValueError` as `parse_measure` does.
    """
    names = [name for text in texts for name in split_names(text)]
    return tuple(dict.fromkeys(measure for name in names for measure in _of_trec_eval(name) or [parse_measure(name)]))


def measures_on_scale(texts: Iterable[str], best_grade: int) -> tuple[Measure, ...]:
    """Parse names of measures of a collection; those that need the best grade of its scale have it as a parameter.

    Raises `InvalidValueError` as `parse_measures` does, and for measures by subtopic.
    """
    return tuple(dict.fromkeys(_on_scale(measure, best_grade) for measure in parse_measures(texts)))


def measure_on_scale(text: str, best_grade: int) -> Measure:
    """Parse the name of one measure of a collection, as `measures_on_scale` does."""
    return _on_scale(parse_measure(text), best_grade)


def _on_scale(measure: Measure, best_grade: int) -> Measure:
    if measure.definition.by_subtopic:
        raise InvalidValueError(
            "%(measure)s needs grades by subtopic, which judgements of a collection do not have. With qrels that have "
            "them, `annotator evaluate` computes it.",
            measure=measure,
        )
    return measure.on_scale(best_grade)


def split_names(text: str) -> list[str]:
    """Split names at commas, as in `nDCG@10,AP`, but not in brackets or between parameters, as in `P.5,10`."""
    names: list[str] = []
    for part in LISTED.findall(text):
        if names and GOES_ON.fullmatch(part):
            names[-1] += f",{part}"
        elif part.strip():
            names.append(part)
    return names or [text]


def parse_measure(text: str) -> Measure:
    """Parse a measure's name, case-insensitively; `str()` of the result is the canonical name.

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
    """Parse a trec_eval name, or one of `SETS`; empty when it is none."""
    if text.strip().lower() in SETS:
        return [_our_measure(name) for name in SETS[text.strip().lower()]]
    measures = measures_of_trec_eval(text)
    if measures == []:
        raise InvalidValueError(
            "“%(text)s” is no measure but a line of trec_eval's output; only that format shows it.", text=text
        )
    return measures or []


def _our_measure(text: str) -> Measure:
    match = FORM.fullmatch(text.strip())
    written, brackets, cutoff_written = match.groups() if match else (text, None, None)
    if written.lower() not in NAMES:
        raise _unknown(text, written)
    name = NAMES[written.lower()]
    if brackets is None and cutoff_written and (out_of_place := CUTOFF_FIRST.fullmatch(cutoff_written.strip())):
        cutoff_written, brackets = out_of_place.groups()
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
            raise InvalidValueError(
                "%(name)s does not take “%(brackets)s” in brackets; it takes %(takes)s.",
                name=name,
                brackets=part.strip(),
                takes=_takes(name),
            )
        if parameter in said:
            raise InvalidValueError("%(name)s has %(parameter)s twice.", name=name, parameter=parameter)
        said[parameter] = _parameter(name, parameter, value.strip())
    _check_together(name, said, cutoff)
    usual = MEASURES[name].takes
    return tuple((each, said[each]) for each in PARAMETERS if each in said and said[each] != usual.get(each))


def _parameter(name: str, parameter: str, written: str) -> Value:
    if parameter not in (*MEASURES[name].takes, "judged_only"):
        if parameter == "rel":
            raise InvalidValueError(
                "%(name)s takes no rel, since it does not ask from which grade on documents are relevant; it takes "
                "%(takes)s.",
                name=name,
                takes=_takes(name),
            )
        raise InvalidValueError(
            "%(name)s takes no %(parameter)s; it takes %(takes)s.",
            name=name,
            parameter=parameter,
            takes=_takes(name),
        )
    return read_parameter(name, parameter, written)


def _takes(name: str) -> str:
    return ", ".join((*MEASURES[name].takes, "judged_only"))


def _check_together(name: str, said: dict[str, Value], cutoff: float | None) -> None:
    _check_ranges(name, said)
    for needed in MEASURES[name].needs:
        if needed not in said:
            raise InvalidValueError(
                "%(name)s needs the number of documents in the corpus, such as %(name)s(docs=100000).", name=name
            )
    if "norm" in said and cutoff is None:
        raise InvalidValueError("%(name)s takes a norm only with a cutoff, such as %(name)s(norm=min)@10.", name=name)
    if "compat" in said and cutoff is not None:
        raise InvalidValueError("%(name)s takes no cutoff with compat: the script's is 1000.", name=name)
    if name == "RBP" and "rel" in said and ("gain" in said or "max" in said):
        raise InvalidValueError("RBP takes either rel (binary) or gain and max (graded), not both.")
    if name == "RBP" and "max" in said and "gain" not in said:
        raise InvalidValueError(
            "RBP takes max only with gain, such as RBP(gain=linear,max=%(max)s).", max=show(said["max"])
        )


def _check_ranges(name: str, said: Mapping[str, Value]) -> None:
    """Check values that only some measures may have, or not together."""
    beta, wanted, least, most = (said.get(parameter) for parameter in ("beta", "T", "min_rel", "max"))
    if name in {"NRBP", "nNRBP"} and isinstance(beta, float) and beta >= 1:
        raise InvalidValueError("The beta of %(name)s must be below 1, not %(beta)s.", name=name, beta=show(beta))
    if name == "INST" and isinstance(wanted, float) and wanted < LEAST_WANTED:
        raise InvalidValueError(
            "The T of INST must be %(least)s or more, not %(wanted)s.", least=LEAST_WANTED, wanted=show(wanted)
        )
    if isinstance(least, int) and isinstance(most, int) and least >= most:
        raise InvalidValueError(
            "The min_rel of %(name)s must be below max, and %(least)d is not below %(most)d.",
            name=name,
            least=least,
            most=most,
        )


def _unknown(text: str, written: str) -> InvalidValueError:
    meant = next((form for form in likely_forms(text) if _is_measure(form)), None)
    if meant is not None:
        return InvalidValueError(
            "There is no measure “%(text)s”; perhaps %(nearest)s is meant.", text=text, nearest=meant
        )
    nearest = nearest_names(written)
    if nearest:
        return InvalidValueError(
            "There is no measure “%(text)s”; the nearest names are: %(nearest)s.",
            text=text,
            nearest=", ".join(nearest),
        )
    return InvalidValueError(
        "There is no measure “%(text)s”, and none of the %(count)d that there are has a name like it.",
        text=text,
        count=len(MEASURES),
    )


def _is_measure(text: str) -> bool:
    try:
        _our_measure(text)
    except InvalidValueError:
        return False
    return True


@dataclass(frozen=True)
class MeasureHelp:
    """The help of a measure."""

    form: str  # how it is written, such as P@k
    text: str  # definition, range, edges and reference; the docstring of its function
    parameters: tuple[Sentence, ...]
    also_called: tuple[str, ...]
    stands_for: str | None = None  # for an alias that implies parameters, as rbp implies RBP(p=0.9)

    @property
    def summary(self) -> str:
        """The first sentence of the text, on one line."""
        return " ".join(self.text.split("\n\n")[0].split())


def explain(written: str) -> MeasureHelp:
    """Explain a measure, named with or without cutoff, or by trec_eval's family, such as `ndcg_cut`.

    Raises `InvalidValueError` as `parse_measure` does, also for names that stand for several measures (`official`).
    """
    measures = measures_of_trec_eval(written) or ()
    if len(measures) > 1 and len({measure.name for measure in measures}) == 1:
        return _help(measures[0].name)  # a family that differs in cutoffs
    bare = None if measures else NAMES.get(written.strip().lower())
    if bare is not None:
        return _help(bare)
    measure = parse_measure(written)
    says_more = measure.parameters and str(measure) != written.strip()
    return replace(_help(measure.name), stands_for=str(measure) if says_more else None)


def explain_all() -> dict[str, MeasureHelp]:
    """Explain every measure, by name."""
    return {name: _help(name) for name in MEASURES}


def _help(name: str) -> MeasureHelp:
    definition = MEASURES[name]
    at = {Cutoff.NEVER: "", Cutoff.POSSIBLE: "[@k]", Cutoff.NEEDED: "@k", Cutoff.LEVEL: "@x"}[definition.cutoff]
    takes = [*definition.takes, "judged_only"]
    return MeasureHelp(
        form=f"{name}{at}",
        text=Measure(name).help,
        parameters=tuple(PARAMETERS[parameter].help for parameter in takes),
        also_called=definition.also_called,
    )
