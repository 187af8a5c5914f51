"""Names of measures: ours, trec_eval's, and what is said of those that make no sense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.measures import MEASURES, Cutoff, Measure
from annotator.evaluation.metrics.names import parse_measure


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        (" ndcg@10 ", "nDCG@10"),
        ("nDCG", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("map", "AP"),
        ("MAP@100", "AP@100"),
        ("map_cut_5", "AP@5"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("ap( REL = 2 )", "AP(rel=2)"),
        ("AP()", "AP"),
        ("P(rel=2)@10", "P(rel=2)@10"),
        ("P_10", "P@10"),
        ("P.010", "P@10"),
        ("recall_100", "R@100"),
        ("Recall@100", "R@100"),
        ("success_1", "Success@1"),
        ("recip_rank", "RR"),
        ("MRR@10", "RR@10"),
        ("RPREC", "Rprec"),
        ("bpref", "Bpref"),
        ("judged@10", "Judged@10"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
    ],
)
def test_a_measure_is_known_under_many_names_and_printed_under_one(written: str, printed: str) -> None:
    assert str(parse_measure(written)) == printed


MEASURES_IN_FULL = st.sampled_from(sorted(MEASURES)).flatmap(
    lambda name: st.builds(
        Measure,
        st.just(name),
        cutoff={
            Cutoff.NEVER: st.none(),
            Cutoff.POSSIBLE: st.none() | st.integers(1, 999_999_999),
            Cutoff.NEEDED: st.integers(1, 999_999_999),
        }[MEASURES[name].cutoff],
        relevant_from=st.none() | st.integers(1, 999_999_999) if MEASURES[name].is_binary else st.none(),
    )
)


@given(MEASURES_IN_FULL)
def test_a_printed_name_is_read_as_the_same_measure(measure: Measure) -> None:
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("P@0", "The cutoff of P must be a whole number from 1 to 999999999, not “0”."),
        ("nDCG@-1", "The cutoff of nDCG must be a whole number from 1 to 999999999, not “-1”."),
        ("ndcg_cut_-1", "The cutoff of nDCG must be a whole number from 1 to 999999999, not “-1”."),
        ("nDCG@ten", "The cutoff of nDCG must be a whole number from 1 to 999999999, not “ten”."),
        ("nDCG@", "The cutoff of nDCG must be a whole number from 1 to 999999999, not “”."),
        ("P_5,10", "The cutoff of P must be a whole number from 1 to 999999999, not “5,10”."),
        ("P@1000000000", "The cutoff of P must be a whole number from 1 to 999999999, not “1000000000”."),
        ("P@٣", "The cutoff of P must be a whole number from 1 to 999999999, not “٣”."),
        ("P", "P needs a cutoff, such as P@10."),
        ("recall", "R needs a cutoff, such as R@10."),
        ("Bpref@10", "Bpref takes no cutoff; write just Bpref."),
        ("nDCG(rel=2)", "nDCG takes no rel, since it does not ask from which grade on documents are relevant."),
        ("AP(rel=0)", "The rel of AP must be a whole number from 1 to 999999999, not “0”."),
        ("AP(rel=1,rel=2)", "The rel of AP must be a whole number from 1 to 999999999, not “1,rel=2”."),
        ("AP(p=0.8)", "AP does not take “p=0.8” in brackets."),
        ("nDGC@10", "There is no measure “nDGC@10”; the nearest names are: nDCG."),
        ("num_rels", "There is no measure “num_rels”; the nearest names are: NumRel, NumRet."),
    ],
)
def test_a_measure_that_makes_no_sense_is_refused_in_a_sentence(written: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        parse_measure(written)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("written", ["", "@10", "zzzz", "AP(rel=2", "!"])
def test_a_name_near_nothing_is_answered_with_all_names(written: str) -> None:
    with pytest.raises(InvalidValueError, match="the measures are: nDCG, AP, P, R, Success, RR, Rprec, Bpref, Judged"):
        parse_measure(written)


@given(st.text(max_size=12))
def test_any_text_is_a_measure_or_refused(text: str) -> None:
    try:
        measure = parse_measure(text)
    except InvalidValueError:
        return
    assert parse_measure(str(measure)) == measure
