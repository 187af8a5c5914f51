"""Prints the scores of a run as trec_eval does, byte for byte."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.gains import Gain
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measure, split_names
from annotator.evaluation.metrics.parameters import Value, show
from annotator.evaluation.metrics.scoring import Scores
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.metrics.trec_eval_names import FAMILIES, NICKNAMES, Takes, TrecEvalName, names_of_trec_eval

ALL = "all"
SUMMARY_ONLY = {"runid", "num_q", "gm_map", "gm_bpref"}
COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
GRADE_SIGNS = np.array([*"0123456789", ">"])
IN_PRINTING_ORDER = {family: place for place, family in enumerate(FAMILIES)}


def measures_to_print(asked: Sequence[str], compat: Compat) -> tuple[Measure, ...]:
    """Return the measures to score for `trec_eval_report`, at least one; `runid` and `relstring` are not measures.

    Raises `InvalidValueError` where `trec_eval_report` does.
    """
    measures = dict.fromkeys(name.measure for name in _lines(asked, compat) if name.measure is not None)
    return tuple(measures) or (Measure("NumQ"),)


def trec_eval_report(scores: Scores, run: int, tag: str, asked: Sequence[str], compat: Compat) -> str:
    """Return what `trec_eval -c -q -m ...` prints for one run: a block per topic, then one for all topics.

    `asked` has names as given to -m, or our names of measures that trec_eval also has; lines are in trec_eval's
    order. `scores` has at least the measures that `measures_to_print` returns. Topics that the run lacks are printed
    as zeros under trec_eval 10 and omitted under 9.0.8. Two differences from trec_eval: of several lists of cutoffs
    for one name it uses only the first, and it may sort gains that are less than 1 apart wrongly.

    Raises `InvalidValueError` for an unknown measure, one that this version of trec_eval does not have, and `rbp` and
    `rbp_resid`, whose code in trec_eval is faulty.
    """
    lines = _lines(asked, compat)
    return "".join([*_topic_lines(scores, run, lines, compat), *_summary_lines(scores, run, tag, lines)])


def trec_eval_lines(
    tag: str,
    measures: Sequence[str],
    by_topic: Mapping[str, Sequence[float]],
    values: Sequence[float],
) -> str:
    """Return what `trec_eval -c -q -m runid -m ...` prints for one run, of values that were scored before.

    Measures have our names. Values over all topics are those given: after `trec_eval -l 2` num_rel would differ, which
    counts every grade above 0 there. Topics that the run lacks are printed with their values, as under trec_eval 10.

    Raises `InvalidValueError` for a measure that trec_eval does not have.
    """
    names = {name: _as_trec_eval_prints(parse_measure(name)) for name in measures}
    places = {names[name]: place for place, name in enumerate(measures)}
    lines = [name for name in _in_order(places) if name.family not in SUMMARY_ONLY]
    of_topics = (
        _line(name.label, topic, _number(name.family, by_topic[topic][places[name]]))
        for topic in sorted(by_topic, key=str.encode)
        for name in lines
    )
    summary = (_line(name.label, ALL, _number(name.family, values[places[name]])) for name in _in_order(places))
    return "".join([*of_topics, _line("runid", ALL, tag), *summary])


def _topic_lines(scores: Scores, run: int, lines: Sequence[TrecEvalName], compat: Compat) -> Iterator[str]:
    wanted = [line for line in lines if line.family not in SUMMARY_ONLY]
    columns = [_column(scores, run, line) for line in wanted]
    for place, topic in enumerate(scores.topics):
        if scores.retrieved[run, place] or compat is Compat.TREC_EVAL_10:
            for line, column in zip(wanted, columns, strict=True):
                yield _line(line.label, topic, column[place])


def _summary_lines(scores: Scores, run: int, tag: str, lines: Sequence[TrecEvalName]) -> Iterator[str]:
    for line in lines:
        if line.family == "runid":
            yield _line(line.label, ALL, tag)
        elif line.family == "num_rel":
            # With -c trec_eval counts every grade above 0 here, whatever -l says.
            yield _line(line.label, ALL, str(scores.judged.existing(1).sum()))
        elif line.measure is not None:
            mean = scores.means[run, scores.measures.index(line.measure)]
            yield _line(line.label, ALL, _number(line.family, float(mean)))


def _column(scores: Scores, run: int, line: TrecEvalName) -> list[str]:
    """Format one line's value for every topic."""
    if line.measure is None:
        return [f"'{signs}'" for signs in _relevance_strings(scores, run, line)]
    values = scores.values[run, :, scores.measures.index(line.measure)]
    return [_number(line.family, value) for value in values.tolist()]


def _line(label: str, topic: str, value: str) -> str:
    return f"{label:<22}\t{topic}\t{value}\n"


def _number(family: str, value: float) -> str:
    return f"{int(value)}" if family in COUNTS else f"{value:6.4f}"


def _relevance_strings(scores: Scores, run: int, line: TrecEvalName) -> list[str]:
    """Write the grades of each topic's top documents, one character each.

    `>` is a grade above 9, `.` pooled but unjudged, `-` not in the pool. For a topic that the run lacks, trec_eval 10
    makes up one document that is not in the qrels. It clears its string afterwards only when the line is named just
    `relstring`, without a length.
    """
    judged, topics = scores.judged, len(scores.topics)
    rankings = slice(run * topics, (run + 1) * topics)
    retrieved = judged.retrieved[rankings]
    if line.label != line.family and not scores.judged_only:
        retrieved = np.where(scores.retrieved[run] == 0, 1, retrieved)
    shown = np.minimum(retrieved, line.length)
    signs = np.full((topics, int(shown.max(initial=0))), "-")
    for ranking, rank, sign in (
        (judged.ranking, judged.rank, GRADE_SIGNS[np.minimum(judged.grade, GRADE_SIGNS.size - 1)]),
        (judged.unjudged.ranking, judged.unjudged.rank, np.full(judged.unjudged.rank.size, ".")),
    ):
        rows = np.flatnonzero((ranking // max(topics, 1) == run) & (rank <= line.length))
        signs[ranking[rows] - rankings.start, rank[rows] - 1] = sign[rows]
    return ["".join(row[:width]) for row, width in zip(signs.tolist(), shown.tolist(), strict=True)]


def _lines(asked: Sequence[str], compat: Compat) -> list[TrecEvalName]:
    """Return the lines to print, without duplicates, in trec_eval's order."""
    names = dict.fromkeys(name for text in asked for each in split_names(text) for name in _names(each, compat))
    return _in_order(names)


def _in_order(names: Iterable[TrecEvalName]) -> list[TrecEvalName]:
    return sorted(names, key=lambda name: (IN_PRINTING_ORDER[name.family], _cutoff(name), name.label))


def _cutoff(name: TrecEvalName) -> float:
    return 0 if name.measure is None or name.measure.cutoff is None else name.measure.cutoff


def _names(text: str, compat: Compat) -> list[TrecEvalName]:
    names = names_of_trec_eval(text)
    if names is None:
        names = [_as_trec_eval_prints(parse_measure(text))]
    lacking = [] if compat is Compat.TREC_EVAL_10 else [n for n in names if not FAMILIES[n.family].is_in_version_9]
    if lacking and text.strip().lower() not in NICKNAMES:
        raise InvalidValueError(
            "trec_eval 9.0.8 does not have %(name)s, so its format cannot show it; the other formats do.",
            name=lacking[0].label,
        )
    if any(FAMILIES[name.family].measure in {"RBP", "RBPResidual"} for name in names):
        raise _misprinted(text)
    return [name for name in names if name not in lacking]


def _as_trec_eval_prints(measure: Measure) -> TrecEvalName:
    """Return trec_eval's name for a measure."""
    if measure.name in {"RBP", "RBPResidual"}:
        raise _misprinted(str(measure))
    for family in FAMILIES:
        label = _label(family, measure) if FAMILIES[family].measure == measure.name else None
        if label is not None:
            return TrecEvalName(family, label, measure)
    raise InvalidValueError(
        "trec_eval does not have %(name)s, so its format cannot show it; the other formats do.", name=measure
    )


def _label(family: str, measure: Measure) -> str | None:
    """Format a measure as a member of a trec_eval family; None when it is not one."""
    takes, said = FAMILIES[family].takes, dict(measure.parameters)
    if measure.cutoff is not None:
        shown = f"{measure.cutoff:3.2f}" if takes is Takes.LEVELS else f"{measure.cutoff}"
        return f"{family}_{shown}" if takes in {Takes.LEVELS, Takes.CUTOFFS} and not said else None
    if takes is Takes.CUTOFFS:
        return None
    if not said:
        return family
    shown = _shown(takes, said)
    return f"{family}_{shown}" if shown else None


def _shown(takes: Takes, said: dict[str, Value]) -> str:
    """Format the one parameter that trec_eval also has; empty for others."""
    match takes, said:
        case Takes.GAINS, {"gain": Gain(custom=pairs), **others} if not others:
            return ",".join(f"{grade}={show(gain)}" for grade, gain in pairs)
        case Takes.WEIGHT, {"beta": float(beta), **others} if not others:
            return f"{beta * beta:.15g}"  # beta is a square root: squaring restores the last digit
    return ""


def _misprinted(name: str) -> InvalidValueError:
    return InvalidValueError(
        "What trec_eval prints for rbp and rbp_resid is not what they are defined to be, so its format cannot show "
        "%(name)s; the other formats do.",
        name=name,
    )
