"""trec_eval's own names: what its -m takes and what it prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.trec_eval_names import (
    FAMILIES,
    NICKNAMES,
    Takes,
    measures_of_trec_eval,
    names_of_trec_eval,
)

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RANKS_OF_P = "P@5 P@10 P@15 P@20 P@30 P@100 P@200 P@500 P@1000"
RECALLS = "IPrec@0 IPrec@0.1 IPrec@0.2 IPrec@0.3 IPrec@0.4 IPrec@0.5 IPrec@0.6 IPrec@0.7 IPrec@0.8 IPrec@0.9 IPrec@1"
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2)


@pytest.mark.parametrize(
    ("written", "measures"),
    [
        ("map", "AP"),
        ("MAP", "AP"),
        ("gm_map", "GMAP"),
        ("P.5,10", "P@5 P@10"),
        ("P.10,5,10", "P@5 P@10"),
        ("p_10", "P@10"),
        ("recall_100", "R@100"),
        ("success", "Success@1 Success@5 Success@10"),
        ("success.1", "Success@1"),
        ("unj", "Unjudged@5 Unjudged@10 Unjudged@20"),
        ("unj_5", "Unjudged@5"),
        ("P", RANKS_OF_P),
        ("recall", " ".join(f"R@{k}" for k in RANKS)),
        ("relative_P", " ".join(f"relative_P@{k}" for k in RANKS)),
        ("ndcg_cut", " ".join(f"nDCG@{k}" for k in RANKS)),
        ("map_cut", " ".join(f"AP@{k}" for k in RANKS)),
        ("ndcg_cut_10", "nDCG@10"),
        ("map_cut.3", "AP@3"),
        ("iprec_at_recall.0.1,.5", "IPrec@0.1 IPrec@0.5"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("iprec_at_recall", RECALLS),
        ("Rprec_mult.0.2", "Rprec_mult@0.2"),
        ("Rprec_mult_1.20", "Rprec_mult@1.2"),
        ("Rprec_mult", " ".join(f"Rprec_mult@{k}" for k in MULTIPLES)),
        ("ndcg", "nDCG"),
        ("ndcg.1=3,2=9", "nDCG(gain={1:3,2:9})"),
        ("ndcg_1=3,2=9,4=4.5", "nDCG(gain={1:3,2:9,4:4.5})"),
        ("Rndcg.1=3", "Rndcg(gain={1:3})"),
        ("ndcg_rel", "ndcg_rel"),
        ("G.1=3", "G(gain={1:3})"),
        ("dcg", "DCG"),
        ("binG", "binG"),
        ("set_F", "SetF"),
        ("set_F.1.0", "SetF"),
        # The weight is the square of beta.
        ("set_F.4", "SetF(beta=2)"),
        ("set_F_0.25", "SetF(beta=0.5)"),
        ("11pt_avg", "11ptAvg"),
        ("num_nonrel_judged_ret", "num_nonrel_judged_ret"),
        ("rbp", "RBP(p=0.9)"),
        ("rbp.p=0.8", "RBP"),
        ("rbp_p=0.95", "RBP(p=0.95)"),
        ("rbp_resid", "RBPResidual(p=0.9)"),
        ("runid", ""),
        ("relstring", ""),
        ("relstring.5", ""),
        ("official", f"NumQ NumRet NumRel NumRelRet AP GMAP Rprec Bpref RR {RECALLS} {RANKS_OF_P}"),
        ("set", "NumQ NumRet NumRel NumRelRet utility SetP set_relative_P SetR set_map SetF"),
    ],
)
def test_a_name_of_trec_evals_stands_for_measures_of_ours(written: str, measures: str) -> None:
    found = measures_of_trec_eval(written)
    assert found is not None
    assert " ".join(map(str, found)) == measures


@pytest.mark.parametrize(
    "written", ["RBP", "Rbp", "nDCG@10", "AP", "P@5", "R", "mrr", "official.5", "recall_at_10", ""]
)
def test_other_names_are_not_trec_evals(written: str) -> None:
    assert measures_of_trec_eval(written) is None


def test_all_trec_is_everything_but_what_trec_eval_leaves_out_and_what_it_misprints() -> None:
    assert set(FAMILIES) - set(NICKNAMES["all_trec"]) == {"dcg", "rbp", "rbp_resid"}
    assert {*NICKNAMES["official"], *NICKNAMES["set"]} <= {*NICKNAMES["all_trec"]}
    assert len(parse_measures(["all_trec"])) == len(parse_measures(["official", "set", "all_trec"]))


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("P.0", "The cutoff of P must be a whole number from 1 to 999999999, not “0”."),
        ("P.", "The cutoff of P must be a whole number from 1 to 999999999, not “”."),
        ("P.5,", "The cutoff of P must be a whole number from 1 to 999999999, not “”."),
        ("ndcg_cut_-1", "The cutoff of ndcg_cut must be a whole number from 1 to 999999999, not “-1”."),
        ("relstring.x", "The cutoff of relstring must be a whole number from 1 to 999999999, not “x”."),
        ("iprec_at_recall.1.5", "The level of IPrec must be a number from 0 to 1, not “1.5”."),
        ("map.x", "trec_eval's map is known here only without parameters."),
        ("bpref.10", "trec_eval's bpref is known here only without parameters."),
        ("map.5", "trec_eval's map takes no cutoff; with one, write AP@5."),
        ("recip_rank_10", "trec_eval's recip_rank takes no cutoff; with one, write RR@10."),
        ("ndcg_10", "trec_eval's ndcg takes no cutoff; with one, write nDCG@10."),
        ("utility.1,-1,0,0", "trec_eval's utility is known here only without parameters."),
        ("ndcg.10,20", "After ndcg trec_eval takes gains by grade, as in ndcg.1=3,2=9, not “10,20”."),
        ("ndcg.exp", "After ndcg trec_eval takes gains by grade, as in ndcg.1=3,2=9, not “exp”."),
        (
            "G.1=-3",
            "The gain of G must be linear, exp, or gains by grade such as {1:3,2:9}, not “1=-3”.",
        ),
        (
            "set_F.0",
            "After set_F a number above 0 and at most 1000000000000 is required, the square of beta, not “0”.",
        ),
        ("rbp.", "After rbp only p is supported, as in rbp.p=0.8, not “”."),
        ("rbp_resid.", "trec_eval's rbp_resid is known here only without parameters."),
        *(
            (f"{name}.", f"After {name} trec_eval takes gains by grade, as in {name}.1=3,2=9, not “”.")
            for name in ("ndcg", "dcg", "G", "Rndcg", "ndcg_rel")
        ),
        ("relstring.", "The cutoff of relstring must be a whole number from 1 to 999999999, not “”."),
        ("iprec_at_recall.", "The level of IPrec must be a number from 0 to 1, not “”."),
        (
            "set_F.",
            "After set_F a number above 0 and at most 1000000000000 is required, the square of beta, not “”.",
        ),
        ("runid.", "trec_eval's runid is known here only without parameters."),
        ("rbp.1=3", "After rbp only p is supported, as in rbp.p=0.8, not “1=3”."),
        ("rbp.p=1", "The p of RBP must be a number between 0 and 1, not “1”."),
        ("prefs", "trec_eval's prefs is not computed here."),
        ("prefs_simp_ret", "trec_eval's prefs_simp_ret is not computed here."),
        ("P_avgjg.5", "trec_eval's P_avgjg.5 is not computed here."),
        ("yaap", "trec_eval's yaap is not computed here."),
    ],
)
def test_what_a_name_does_not_take_is_refused_in_a_sentence(written: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        measures_of_trec_eval(written)
    assert str(refusal.value) == sentence


PARAMETERS = {
    Takes.NOTHING: st.none(),
    Takes.CUTOFFS: st.none()
    | st.lists(st.integers(1, 9999), min_size=1, max_size=3).map(lambda ks: ",".join(map(str, ks))),
    Takes.LEVELS: st.none() | st.integers(0, 100).map(lambda percent: f"{percent / 100:.2f}"),
    Takes.GAINS: st.none() | st.integers(0, 9).map(lambda gain: f"1={gain},2=9"),
    Takes.WEIGHT: st.none() | st.integers(1, 99).map(lambda tenths: f"{tenths / 10}"),
    Takes.PERSISTENCE: st.none() | st.integers(1, 9).map(lambda tenths: f"p=0.{tenths}"),
    Takes.LENGTH: st.none() | st.integers(1, 99).map(str),
}


@given(
    st.sampled_from(sorted(FAMILIES)).flatmap(
        lambda family: st.tuples(st.just(family), PARAMETERS[FAMILIES[family].takes])
    )
)
def test_what_trec_eval_prints_is_read_as_what_it_was_asked(asked: tuple[str, str | None]) -> None:
    family, parameters = asked
    names = names_of_trec_eval(family if parameters is None else f"{family}.{parameters}")
    assert names
    for name in names:
        [read] = names_of_trec_eval(name.label) or []
        assert (read.family, read.measure, read.length) == (family, name.measure, name.length) or (
            name.label == family  # a family's own name, which stands for its usual cutoffs
        )
