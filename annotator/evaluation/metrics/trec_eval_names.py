"""trec_eval's names of measures, mapped to the measures here and to its output names."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.measures import MEASURES, Cutoff, Measure
from annotator.evaluation.metrics.parameters import (
    LARGEST_BETA,
    Value,
    decimal,
    read_cutoff,
    read_level,
    read_parameter,
    whole_number,
)

RANKS = "5,10,15,20,30,100,200,500,1000"
RECALLS = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
MULTIPLES = "0.2,0.4,0.6,0.8,1,1.2,1.4,1.6,1.8,2"

# Gains by grade as trec_eval reads them: 1=3,2=9.
PAIRS = re.compile(r"[0-9]+=[0-9.eE+-]+(,[0-9]+=[0-9.eE+-]+)*")
# The suffix of a name in trec_eval's output, after _, as in P_10 and iprec_at_recall_0.10.
PRINTED_PARAMETERS = re.compile(r"(p=|-)?[.0-9].*")


class Takes(Enum):
    """The kinds of parameters after a name and a dot."""

    NOTHING = "nothing"
    CUTOFFS = "cutoffs"  # 5,10
    LEVELS = "levels"  # .1,.5
    GAINS = "gains"  # 1=3,2=9
    WEIGHT = "weight"  # set_F's parameter, the square of beta
    PERSISTENCE = "persistence"  # p=0.8
    LENGTH = "length"  # of relstring


@dataclass(frozen=True)
class Family:
    """A trec_eval name: one measure, or several with different cutoffs."""

    measure: str | None  # our name; None for a line without a number
    takes: Takes = Takes.NOTHING
    usual: str = ""  # parameters, when none are given
    is_in_version_9: bool = True


@dataclass(frozen=True)
class TrecEvalName:
    """One line of trec_eval's output."""

    family: str
    label: str  # what the line begins with
    measure: Measure | None = None  # None for runid and relstring
    length: int = 0  # of relstring: how many documents


# In the order in which trec_eval prints them, whatever the order in which they are asked for.
FAMILIES: Mapping[str, Family] = {
    "runid": Family(None),
    "num_q": Family("NumQ"),
    "num_ret": Family("NumRet"),
    "num_rel": Family("NumRel"),
    "num_rel_ret": Family("NumRelRet"),
    "map": Family("AP"),
    "gm_map": Family("GMAP"),
    "Rprec": Family("Rprec"),
    "bpref": Family("Bpref"),
    "recip_rank": Family("RR"),
    "iprec_at_recall": Family("IPrec", Takes.LEVELS, RECALLS),
    "P": Family("P", Takes.CUTOFFS, RANKS),
    "relstring": Family(None, Takes.LENGTH, "10"),
    "recall": Family("R", Takes.CUTOFFS, RANKS),
    "infAP": Family("infAP"),
    "gm_bpref": Family("GMBpref"),
    "Rprec_mult": Family("Rprec_mult", Takes.LEVELS, MULTIPLES),
    "utility": Family("utility"),
    "11pt_avg": Family("11ptAvg"),
    "binG": Family("binG"),
    "G": Family("G", Takes.GAINS),
    "dcg": Family("DCG", Takes.GAINS, is_in_version_9=False),
    "ndcg": Family("nDCG", Takes.GAINS),
    "ndcg_rel": Family("ndcg_rel", Takes.GAINS),
    "Rndcg": Family("Rndcg", Takes.GAINS),
    "ndcg_cut": Family("nDCG", Takes.CUTOFFS, RANKS),
    "map_cut": Family("AP", Takes.CUTOFFS, RANKS),
    "relative_P": Family("relative_P", Takes.CUTOFFS, RANKS),
    "success": Family("Success", Takes.CUTOFFS, "1,5,10"),
    "set_P": Family("SetP"),
    "set_relative_P": Family("set_relative_P"),
    "set_recall": Family("SetR"),
    "set_map": Family("set_map"),
    "set_F": Family("SetF", Takes.WEIGHT),
    "num_nonrel_judged_ret": Family("num_nonrel_judged_ret"),
    # trec_eval's code for rbp starts from memory that it never set and takes grades for gains; for rbp_resid it leaves
    # out what lies below a ranking of which all is judged. Here they are as defined, with trec_eval's p.
    "rbp": Family("RBP", Takes.PERSISTENCE, "p=0.9", is_in_version_9=False),
    "rbp_resid": Family("RBPResidual", usual="p=0.9", is_in_version_9=False),
    "unj": Family("Unjudged", Takes.CUTOFFS, "5,10,20", is_in_version_9=False),
}
OFFICIAL_FAMILIES = (*FAMILIES,)[: (*FAMILIES,).index("P") + 1]
NICKNAMES: Mapping[str, tuple[str, ...]] = {
    "official": OFFICIAL_FAMILIES,
    "set": (*OFFICIAL_FAMILIES[:5], "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    # Without rbp and rbp_resid, in which trec_eval cannot be equalled; dcg it leaves out itself.
    "all_trec": tuple(name for name in FAMILIES if name not in {"dcg", "rbp", "rbp_resid"}),
}
# trec_eval's measures of preferences and of several judges' qrels, and two that nobody reports.
NOT_COMPUTED = re.compile(r"(prefs|all_prefs|qrels_jg|ideal_dcg|yaap|prefs_\w+|\w+_avgjg)(\..*)?", re.IGNORECASE)

BY_SMALL_LETTERS = {name.lower(): name for name in (*FAMILIES, *NICKNAMES)}
LONGEST_FIRST = sorted(FAMILIES, key=len, reverse=True)


def measures_of_trec_eval(text: str) -> list[Measure] | None:
    """The measures that a name of trec_eval's denotes, None when it is no name of trec_eval's.

    No measure for `runid` and `relstring`. Otherwise as `names_of_trec_eval`.
    """
    names = names_of_trec_eval(text)
    return None if names is None else [name.measure for name in names if name.measure is not None]


def names_of_trec_eval(text: str) -> list[TrecEvalName] | None:
    """Read what trec_eval's -m takes, or a name as trec_eval prints it, in any mixture of capitals.

    Forms: `map`, `P.5,10`, `iprec_at_recall.0.1,.5`, `ndcg.1=3,2=9`, `set_F.0.5`, `P_10`, `iprec_at_recall_0.10`; a
    family without parameters (`P`) stands for trec_eval's usual cutoffs, `official`, `set` and `all_trec` for what
    they list in trec_eval, `all_trec` without rbp and rbp_resid. Only `rbp` minds its capitals: it is
    RBP(p=0.9), while RBP in capitals is ours with p=0.8. The weight behind `set_F` is the square of beta. Returns None
    for any other text; raises `InvalidValueError` for parameters that the name does not take, and for the few
    measures of trec_eval's that are not computed here.
    """
    written = text.strip()
    if NOT_COMPUTED.fullmatch(written):
        raise InvalidValueError("trec_eval's %(name)s is not computed here.", name=written)
    if written.lower() in NICKNAMES:
        return [name for family in NICKNAMES[written.lower()] for name in _names(family, None)]
    family, parameters = _parted(written)
    if family not in FAMILIES or (family == "rbp" and not written.startswith("rbp")):
        return None
    return list(_names(family, parameters))


def _parted(written: str) -> tuple[str, str | None]:
    """Tell a family from its parameters; the family is empty when there is none of that name."""
    name, dot, parameters = written.partition(".")
    if name.lower() in BY_SMALL_LETTERS:
        return BY_SMALL_LETTERS[name.lower()], parameters if dot else None
    for family in LONGEST_FIRST:
        start = f"{family}_".lower()
        behind = written[len(start) :]
        if written.lower().startswith(start) and PRINTED_PARAMETERS.fullmatch(behind):
            return family, behind
    return "", None


def _names(family: str, parameters: str | None) -> Iterator[TrecEvalName]:
    name, takes = FAMILIES[family].measure, FAMILIES[family].takes
    if takes in {Takes.NOTHING, Takes.GAINS}:
        _refuse_cutoff(family, parameters)
    if takes is Takes.NOTHING and parameters is not None:
        raise InvalidValueError("trec_eval's %(name)s is known here only without parameters.", name=family)
    said = FAMILIES[family].usual if parameters is None else parameters
    label = family if parameters is None else f"{family}_{parameters}"
    if name is None:
        yield TrecEvalName(family, label, length=read_cutoff(family, said) if takes is Takes.LENGTH else 0)
    elif takes is Takes.CUTOFFS:
        for cutoff in sorted({read_cutoff(family, each) for each in said.split(",")}):
            yield TrecEvalName(family, f"{family}_{cutoff:d}", Measure(name, cutoff))
    elif takes is Takes.LEVELS:
        for level in sorted({read_level(name, each) for each in said.split(",")}):
            yield TrecEvalName(family, f"{family}_{level:3.2f}", Measure(name, level))
    elif parameters is None and not said:  # trec_eval's default is ours
        yield TrecEvalName(family, label, Measure(name))
    else:
        yield TrecEvalName(family, label, _with_parameter(family, name, said))


def _refuse_cutoff(family: str, parameters: str | None) -> None:
    """Tell those who write `ndcg_10` or `recip_rank.10` how a cutoff is written."""
    name = FAMILIES[family].measure
    if name and parameters and whole_number(parameters) and MEASURES[name].cutoff is Cutoff.POSSIBLE:
        raise InvalidValueError(
            "trec_eval's %(name)s takes no cutoff; with one, write %(measure)s.",
            name=family,
            measure=Measure(name, whole_number(parameters)),
        )


def _with_parameter(family: str, name: str, said: str) -> Measure:
    """Read the one parameter of a measure."""
    takes = FAMILIES[family].takes
    if takes is Takes.GAINS:
        return _measure(name, "gain", _gain(family, said))
    if takes is Takes.WEIGHT:
        return _measure(name, "beta", math.sqrt(_weight(said)))
    key, _, value = said.partition("=")
    if key != "p":
        raise InvalidValueError("After rbp only p is supported, as in rbp.p=0.8, not “%(written)s”.", written=said)
    return _measure(name, "p", read_parameter(name, "p", value))


def _measure(name: str, parameter: str, value: Value) -> Measure:
    is_usual = value == MEASURES[name].takes[parameter]
    return Measure(name, None, () if is_usual else ((parameter, value),))


def _gain(family: str, written: str) -> Value:
    if not PAIRS.fullmatch(written):
        raise InvalidValueError(
            "After %(name)s trec_eval takes gains by grade, as in %(name)s.1=3,2=9, not “%(written)s”.",
            name=family,
            written=written,
        )
    return read_parameter(family, "gain", written)


def _weight(written: str) -> float:
    number = decimal(written)
    if number is None or not 0 < number <= LARGEST_BETA**2:
        raise InvalidValueError(
            "After set_F a number above 0 and at most 1000000000000 is required, the square of beta, not "
            "“%(written)s”.",
            written=written,
        )
    return number
