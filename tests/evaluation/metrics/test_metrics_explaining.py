"""What the measures say of themselves: under any name, and what a name stands for."""

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.measures import MEASURES, Better
from annotator.evaluation.metrics.names import explain, explain_all
from annotator.evaluation.metrics.parameters import PARAMETERS


@pytest.mark.parametrize(
    ("written", "form", "stands_for"),
    [
        ("rbp", "RBP[@k]", "RBP(p=0.9)"),
        ("RBP", "RBP[@k]", None),
        ("rbp_resid", "RBPResidual[@k]", "RBPResidual(p=0.9)"),
        ("set_F.4", "SetF", "SetF(beta=2)"),
        ("ndcg.1=3", "nDCG[@k]", "nDCG(gain={1:3})"),
        ("AP(rel=2)", "AP[@k]", None),
        ("map", "AP[@k]", None),
        ("ndcg_cut_10", "nDCG[@k]", None),
        ("ndcg_cut", "nDCG[@k]", None),
        ("P", "P@k", None),
        ("IPrec", "IPrec@x", None),
        ("Accuracy", "Accuracy", None),
    ],
)
def test_a_name_that_hides_parameters_is_told_with_them(written: str, form: str, stands_for: str | None) -> None:
    told = explain(written)
    assert (told.form, told.stands_for) == (form, stands_for)


@pytest.mark.parametrize("written", ["official", "runid", "nDGC"])
def test_what_is_no_one_measure_is_not_explained(written: str) -> None:
    with pytest.raises(InvalidValueError):
        explain(written)


def test_each_parameter_says_what_holds_unless_it_is_given() -> None:
    assert all("nless given" in str(parameter.help) for name, parameter in PARAMETERS.items() if name != "docs")
    assert "must be given" in str(PARAMETERS["docs"].help)


def test_each_form_uses_the_letter_of_its_text() -> None:
    assert "recall x" in explain_all()["IPrec"].text
    assert "x times R" in explain_all()["Rprec_mult"].text


def test_less_is_better_of_faults_and_of_what_is_unknown_and_neither_of_what_only_counts() -> None:
    by_better = {
        better: {name for name, definition in MEASURES.items() if definition.better is better} for better in Better
    }
    faults = {"FN", "FP", "Unjudged", "RBPResidual", "num_nonrel_judged_ret"}
    assert by_better[Better.LESS] == faults | {"last_rel", "loss_e", "loss_r", "loss_er"}
    assert by_better[Better.NEITHER] == {"NumQ", "NumRel", "NumRet"}
