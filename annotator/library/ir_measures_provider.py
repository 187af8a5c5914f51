"""A provider for ir_measures: its measures with the values of this package.

    from annotator.library.ir_measures_provider import provider
    provider.calc_aggregate([nDCG @ 10, AP(rel=2)], qrels, run)

Needs ir_measures, which nothing else here imports.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ir_measures.providers import Evaluator, Provider
from ir_measures.util import Metric, QrelsConverter, RunConverter

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics import Measure, evaluate, parse_measure
from annotator.evaluation.qrels.qrels_table import QrelsTable, table_of
from annotator.evaluation.qrels.subtopic_qrels import subtopic_table

# Measures that mean the same under the same name and with the same parameters.
SAME = frozenset(
    (
        *("AP", "Bpref", "IPrec", "Judged", "NumRet", "P", "R", "RR", "Rprec", "Success", "infAP", "nDCG"),
        *("SetAP", "SetF", "SetP", "SetR"),
        *("BPM", "Compat", "INSQ", "INST", "NERR10", "NERR11", "NERR8", "NERR9", "SDCG"),
        *("AP_IA", "ERR_IA", "NRBP", "P_IA", "StRecall", "alpha_DCG", "alpha_nDCG", "nERR_IA", "nNRBP"),
    )
)


class AnnotatorEvaluator(Evaluator):
    """Scores runs by some measures and qrels, which are converted once."""

    def __init__(self, measures: Iterable[Any], qrels: QrelsTable) -> None:
        """Take measures of ir_measures; raises `ValueError` for one that is not supported."""
        asked = list(measures)
        super().__init__(asked, list(qrels.topics))
        self._qrels = qrels
        self._ours = [_ours(measure) for measure in asked]
        if None in self._ours:
            raise ValueError(f"unsupported measure {asked[self._ours.index(None)]}")

    def _iter_calc(self, run: object) -> Iterator[Metric]:
        lists = RunConverter(run).as_dict_of_dict()  # type: ignore[no-untyped-call]
        ours = [measure for measure in self._ours if measure is not None]
        scores = evaluate(self._qrels, {"run": lists}, ours).scores
        values = {str(measure): scores.values[0, :, place].tolist() for place, measure in enumerate(scores.measures)}
        for measure, one in zip(self.measures, ours, strict=True):
            for topic, value in zip(scores.topics, values[str(one)], strict=True):
                whole = int(value) if one.definition.is_count else value
                yield Metric(query_id=topic, measure=measure, value=whole)


class AnnotatorProvider(Provider):
    """The measures of ir_measures that this package has under the same name."""

    NAME = "annotator"

    def supports(self, measure: Any) -> bool:  # noqa: ANN401 - a measure of ir_measures, which has no types
        """Whether the measure, with its parameters, is among them."""
        measure.validate_params()
        return _ours(measure) is not None

    def _evaluator(self, measures: Iterable[Any], qrels: object) -> AnnotatorEvaluator:
        asked, converter = list(measures), QrelsConverter(qrels)  # type: ignore[no-untyped-call]
        if not any(ours is not None and ours.definition.by_subtopic for ours in map(_ours, asked)):
            return AnnotatorEvaluator(asked, table_of(converter.as_dict_of_dict()))  # type: ignore[no-untyped-call]
        rows = list(converter.as_namedtuple_iter())  # type: ignore[no-untyped-call]
        return AnnotatorEvaluator(
            asked,
            subtopic_table(
                [row.query_id for row in rows],
                [str(getattr(row, "iteration", "0")) for row in rows],
                [row.doc_id for row in rows],
                [row.relevance for row in rows],
            ),
        )


def _ours(measure: Any) -> Measure | None:  # noqa: ANN401 - a measure of ir_measures, which has no types
    if measure.NAME not in SAME:
        return None
    try:
        return parse_measure(str(measure))
    except InvalidValueError:
        return None


provider = AnnotatorProvider()  # type: ignore[no-untyped-call]
