"""What the measures say of themselves, for people."""

from dataclasses import dataclass, replace

from annotator.errors import Sentence
from annotator.evaluation.metrics.measures import MEASURES, NAMES, Cutoff, Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.parameters import PARAMETERS
from annotator.evaluation.metrics.trec_eval_names import measures_of_trec_eval


@dataclass(frozen=True)
class MeasureHelp:
    """A measure for those who choose one."""

    form: str  # how it is written, such as P@k
    text: str  # definition, range, edges and reference; the docstring of its function
    parameters: tuple[Sentence, ...]
    also_called: tuple[str, ...]
    stands_for: str | None = None  # of a name that says parameters without showing them, as rbp says RBP(p=0.9)

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
