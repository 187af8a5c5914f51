"""The parameters of measures, in brackets or after @: parsing, validation and formatting."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.metrics.gains import EXPONENTIAL, LINEAR, Gain

WHOLE_NUMBER = re.compile(r"0*[1-9][0-9]{0,8}")
DECIMAL = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
BRACED = re.compile(r"\{(.*)\}")
CUSTOM_GAIN = re.compile(r"\s*([0-9]{1,4})\s*[:=]\s*([^\s,]+)\s*")
LARGEST_BETA = 1_000_000  # its square is exact
LARGEST_GAIN = 1e300  # sums of many stay finite
LARGEST_SCALE = 1000  # 2^1000 is a float64
LARGEST_LEVEL = 1000
SAMPLE_EVAL = "sample_eval"

Value = int | float | bool | str | Gain


@dataclass(frozen=True)
class Parameter:
    """A parameter of measures."""

    field: str  # of `Setting`
    read: Callable[[str], Value | None]  # None for an invalid value
    refusal: Sentence  # its template has %(name)s for the measure and %(written)s for the value as written
    help: Sentence


def whole_number(written: str) -> int | None:
    """Parse a whole number from 1 to 999,999,999."""
    return int(written) if WHOLE_NUMBER.fullmatch(written) else None


def decimal(written: str) -> float | None:
    """Parse a number of 0 or more without sign."""
    return float(written) if DECIMAL.fullmatch(written) else None


def _positive(written: str) -> float | None:
    number = decimal(written)
    return number if number is not None and 0 < number <= LARGEST_BETA else None


def _probability(written: str) -> float | None:
    number = decimal(written)
    return number if number is not None and 0 < number < 1 else None


def _share(written: str) -> float | None:
    number = decimal(written)
    return number if number is not None and number <= 1 else None


def _least(written: str) -> int | None:
    number = 0 if set(written) == {"0"} else whole_number(written)
    return number if number is not None and number < LARGEST_SCALE else None


def _scale(written: str) -> int | None:
    number = whole_number(written)
    return number if number is not None and number <= LARGEST_SCALE else None


def _prior(written: str) -> str | None:
    return "stratum" if _unquoted(written).lower() == "stratum" else None


def _script(written: str) -> str | None:
    return SAMPLE_EVAL if _unquoted(written).lower() == SAMPLE_EVAL else None


def _truth(written: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(written.lower())


def _norm(written: str) -> str | None:
    return "min" if _unquoted(written).lower() == "min" else None


def _gain(written: str) -> Gain | None:
    bare = _unquoted(written)
    named = {"exp": EXPONENTIAL, "exp-log2": EXPONENTIAL, "linear": LINEAR, "log2": LINEAR}.get(bare.lower())
    return named or _custom_gain(bare)


def _custom_gain(written: str) -> Gain | None:
    """Parse `{1:3,2:9}` (ir_measures' gains) or `1=3,2=9` (trec_eval's)."""
    braced = BRACED.fullmatch(written)
    matches = [CUSTOM_GAIN.fullmatch(pair) for pair in (braced[1] if braced else written).split(",")]
    gains = {int(match[1]): decimal(match[2]) for match in matches if match}
    if len(gains) < len(matches):
        return None
    readable = [(grade, gain) for grade, gain in sorted(gains.items()) if gain is not None and gain < LARGEST_GAIN]
    return Gain(custom=tuple(readable)) if len(readable) == len(gains) else None


def _unquoted(written: str) -> str:
    quoted = QUOTED.fullmatch(written)
    return written if quoted is None else (quoted[1] or quoted[2] or "").strip()


PARAMETERS: Mapping[str, Parameter] = {
    "rel": Parameter(
        "relevant_from",
        whole_number,
        Sentence("The rel of %(name)s must be a whole number from 1 to 999999999, not “%(written)s”."),
        Sentence(
            "rel, such as rel=2: the grade from which on documents are relevant; unless given, the one that is set for "
            "all measures, as a rule 1."
        ),
    ),
    "alpha": Parameter(
        "alpha",
        _share,
        Sentence("The alpha of %(name)s must be a number from 0 to 1, not “%(written)s”."),
        Sentence(
            "alpha, such as alpha=0.3: how much less a document adds for a subtopic for each document above it that is "
            "relevant for the same; unless given, alpha=0.5."
        ),
    ),
    "beta": Parameter(
        "beta",
        _positive,
        Sentence("The beta of %(name)s must be a number above 0 and at most 1000000, not “%(written)s”."),
        Sentence(
            "beta, such as beta=2: how much more recall (of Q: gain) weighs than precision; unless given, beta=1. Of "
            "NRBP: how likely a reader goes on, below 1; unless given, beta=0.5."
        ),
    ),
    "p": Parameter(
        "p",
        _probability,
        Sentence("The p of %(name)s must be a number between 0 and 1, not “%(written)s”."),
        Sentence(
            "p, such as p=0.95: how likely a reader goes on from one document to the next; unless given, p=0.8, of "
            "NERR10 p=0.9 and of Compat p=0.95."
        ),
    ),
    "T": Parameter(
        "wanted",
        _positive,
        Sentence("The T of %(name)s must be a number above 0 and at most 1000000, not “%(written)s”."),
        Sentence("T, such as T=2: the number of documents of the best grade that satisfy a reader; unless given, T=1."),
    ),
    "normalize": Parameter(
        "normalize",
        _truth,
        Sentence("The normalize of %(name)s must be True or False, not “%(written)s”."),
        Sentence("normalize=False: do not divide by the value of the best ranking; unless given, normalize=True."),
    ),
    "gain": Parameter(
        "gain",
        _gain,
        Sentence("The gain of %(name)s must be linear, exp, or gains by grade such as {1:3,2:9}, not “%(written)s”."),
        Sentence(
            "gain=linear: a document is worth its grade; gain=exp: one of grade g is worth 2^g - 1; or by grade, as in "
            "gain={1:3,2:9}: grade 1 is worth 3, grade 2 is worth 9, any other its own number. Unless given, linear; "
            "but RBP then only asks whether a document is relevant."
        ),
    ),
    "norm": Parameter(
        "norm",
        _norm,
        Sentence("The norm of %(name)s can only be min, not “%(written)s”."),
        Sentence(
            "norm=min: divide by the relevant documents that fit within the cutoff, min(R, k); unless given, by R."
        ),
    ),
    "min_rel": Parameter(
        "min_grade",
        _least,
        Sentence("The min_rel of %(name)s must be a whole number from 0 to 999, not “%(written)s”."),
        Sentence("min_rel, such as min_rel=1: grades up to this one have no gain; unless given, 0."),
    ),
    "max": Parameter(
        "max_grade",
        _scale,
        Sentence("The max of %(name)s must be a whole number from 1 to 1000, not “%(written)s”."),
        Sentence(
            "max or max_rel, such as max=4 (for ERR what ir_measures takes): the best grade of the scale; unless "
            "given, that of the collection or, from files alone, the best grade in the qrels."
        ),
    ),
    "docs": Parameter(
        "docs",
        whole_number,
        Sentence("The docs of %(name)s must be a whole number from 1 to 999999999, not “%(written)s”."),
        Sentence("docs, such as docs=10000: how many documents the corpus has; it must be given."),
    ),
    "prior": Parameter(
        "prior",
        _prior,
        Sentence("The prior of %(name)s can only be stratum, not “%(written)s”."),
        Sentence(
            "prior=stratum: where nothing of a stratum above a rank is judged, take the stratum's share of relevant "
            "documents; unless given, one half."
        ),
    ),
    "compat": Parameter(
        "script",
        _script,
        Sentence("The compat of %(name)s can only be sample_eval, not “%(written)s”."),
        Sentence(
            "compat=sample_eval: as NIST's script sample_eval.pl prints it. Rankings end at rank 1000, also the ideal "
            "one; infAP takes strata, counts at most 1000 relevant documents and adds 0.00003 to the judged ones above "
            "a rank; infNDCG weighs a stratum by what the ranking has of it. Unless given, as defined above."
        ),
    ),
    "judged_only": Parameter(
        "judged_only",
        _truth,
        Sentence("The judged_only of %(name)s must be True or False, not “%(written)s”."),
        Sentence(
            "judged_only=True: leave unjudged documents out and move the others up (condensed list); "
            "judged_only=False: keep them. Unless given, as is set for all measures, as a rule False."
        ),
    ),
}
# As written by ir_measures.
IN_IR_MEASURES = {"max": "max_rel"}
ALSO_CALLED = {"gains": "gain", "dcg": "gain", "max_rel": "max", "t": "T"}


def show(value: Value) -> str:
    """Write a value as it is read; numbers in the shortest form that reads back the same."""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def show_in_ir_measures(parameter: str, value: Value) -> str:
    """Write a parameter as ir_measures reads it: its names, and numbers with a point where it asks for one."""
    if isinstance(value, Gain):
        return "dcg='exp-log2'" if value.is_exponential else f"gains={value}"
    return f"{IN_IR_MEASURES.get(parameter, parameter)}={value!r}"


def read_cutoff(name: str, written: str) -> int:
    """Read the rank at which a measure cuts a ranking off; raises `InvalidValueError`."""
    number = whole_number(written.strip())
    if number is None:
        raise InvalidValueError(
            "The cutoff of %(name)s must be a whole number from 1 to 999999999, not “%(cutoff)s”.",
            name=name,
            cutoff=written,
        )
    return number


def read_level(name: str, written: str) -> float:
    """Read the recall, or the multiple of R, at which a measure is taken; raises `InvalidValueError`."""
    number = decimal(written.strip())
    most = 1 if name == "IPrec" else LARGEST_LEVEL
    if number is None or number > most:
        raise InvalidValueError(
            "The level of %(name)s must be a number from 0 to %(most)d, not “%(level)s”.",
            name=name,
            most=most,
            level=written,
        )
    return number


def read_parameter(name: str, parameter: str, written: str) -> Value:
    """Parse the value of one parameter; raises `InvalidValueError` with the parameter's own sentence."""
    value = PARAMETERS[parameter].read(written.strip())
    if value is None:
        raise InvalidValueError(PARAMETERS[parameter].refusal.template, name=name, written=written.strip())
    return value
