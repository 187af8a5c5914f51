"""Names of measures: ours, trec_eval's, and what is said of those that make no sense."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.gains import EXPONENTIAL, LINEAR, Gain
from annotator.evaluation.metrics.measures import MEASURES, NAMES, Cutoff, Measure
from annotator.evaluation.metrics.names import ELSEWHERE, parse_measure, parse_measures
from annotator.evaluation.metrics.parameters import ALSO_CALLED, PARAMETERS, Value


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
        ("AP (rel=2)@5", "AP(rel=2)@5"),
        ("AP()", "AP"),
        ("AP( )", "AP"),
        ("AP(norm=min)@10", "AP(norm=min)@10"),
        ("AP(norm='min',rel=2)@10", "AP(rel=2,norm=min)@10"),
        ("P(rel=2)@10", "P(rel=2)@10"),
        ("P_10", "P@10"),
        ("P.010", "P@10"),
        ("P@ 010 ", "P@10"),
        ("recall_100", "R@100"),
        ("Recall@100", "R@100"),
        ("success_1", "Success@1"),
        ("hit_rate@3", "Success@3"),
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
        ("IPrec@0.10", "IPrec@0.1"),
        ("iprec@1.0", "IPrec@1"),
        ("IPrec@0", "IPrec@0"),
        ("Rprec_mult@.2", "Rprec_mult@0.2"),
        ("AP(judged_only=true)", "AP(judged_only=True)"),
        ("AP(Judged_Only=1)", "AP(judged_only=True)"),
        # Said, so that it holds whatever the collection's own setting is.
        ("AP(judged_only=False)", "AP(judged_only=False)"),
        ("nDCG(gain=exp)@10", "nDCG(gain=exp)@10"),
        ("NDCG@10(gain=exp)", "nDCG(gain=exp)@10"),
        ("P@5 ( rel=2 )", "P(rel=2)@5"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp)@10"),
        ("nDCG(gain=linear)@10", "nDCG@10"),
        ("nDCG(dcg='log2')", "nDCG"),
        ("nDCG(gains={2:9, 1:3})", "nDCG(gain={1:3,2:9})"),
        ('nDCG(gain="2=9,1=3.50")', "nDCG(gain={1:3.5,2:9})"),
        ("nDCG(gain={0:1,1:0.123456789})", "nDCG(gain={0:1,1:0.123456789})"),
        ("nDCG(gain={1:3},judged_only=True)@5", "nDCG(gain={1:3},judged_only=True)@5"),
        ("nDCG(judged_only=True,gain={1:3})@5", "nDCG(gain={1:3},judged_only=True)@5"),
        ("RBP", "RBP"),
        ("RBP(p=0.80)", "RBP"),
        ("RBP(p=.95)", "RBP(p=0.95)"),
        ("RBP(p=0.95,gain=exp,max=4)@20", "RBP(p=0.95,gain=exp,max=4)@20"),
        ("RBP(gain=linear)", "RBP(gain=linear)"),
        ("ERR(max_rel=4)@20", "ERR(max=4)@20"),
        ("SetF(beta=1)", "SetF"),
        ("SetF(beta=0.5)", "SetF(beta=0.5)"),
        ("Q(beta=10)", "Q(beta=10)"),
        ("Accuracy(docs=1000)", "Accuracy(docs=1000)"),
        ("xinfAP(prior=stratum)", "xinfAP(prior=stratum)"),
    ],
)
def test_a_measure_is_known_under_many_names_and_printed_under_one(written: str, printed: str) -> None:
    assert str(parse_measure(written)) == printed
    assert str(parse_measure(printed)) == printed


def test_no_two_measures_share_a_name_in_any_mixture_of_capitals() -> None:
    written = [name.lower() for name in MEASURES] + [
        name for definition in MEASURES.values() for name in definition.also_called
    ]
    assert sorted(written) == sorted(NAMES)


def test_measures_are_read_each_once_as_they_first_come() -> None:
    assert list(map(str, parse_measures(["P.10,5", "AP", "map", "P@20", "P_5", "success"]))) == [
        *("P@5", "P@10", "AP", "P@20"),
        *("Success@1", "Success@5", "Success@10"),
    ]


WHOLE = st.integers(1, 999_999_999)
VALUES: dict[str, st.SearchStrategy[Value]] = {
    "rel": WHOLE,
    "beta": st.floats(0, 1_000_000, exclude_min=True),
    "p": st.floats(0, 1, exclude_min=True, exclude_max=True),
    "gain": st.sampled_from([LINEAR, EXPONENTIAL])
    | st.dictionaries(st.integers(0, 9999), st.floats(0, 1e300, exclude_max=True), min_size=1, max_size=4).map(
        lambda gains: Gain(custom=tuple(sorted(gains.items())))
    ),
    "norm": st.just("min"),
    "alpha": st.floats(0, 1),
    "T": st.floats(0.25, 1_000_000),
    "normalize": st.booleans(),
    "min_rel": st.integers(0, 999),
    "max": st.integers(1, 1000),
    "docs": WHOLE,
    "prior": st.just("stratum"),
    "compat": st.just("sample_eval"),
    "judged_only": st.booleans(),
}


@st.composite
def measures_in_full(draw: st.DrawFn) -> Measure:
    """Any measure with any cutoff and any parameters that fit together."""
    name = draw(st.sampled_from(sorted(MEASURES)))
    definition = MEASURES[name]
    cutoff = draw(
        {
            Cutoff.NEVER: st.none(),
            Cutoff.POSSIBLE: st.none() | WHOLE,
            Cutoff.NEEDED: WHOLE,
            Cutoff.LEVEL: st.floats(0, 1 if name == "IPrec" else 1000),
        }[definition.cutoff]
    )
    takes = {*definition.takes, "judged_only"} - ({"norm"} if cutoff is None else set())
    said = {*draw(st.sets(st.sampled_from(sorted(takes)))), *definition.needs}
    if name == "RBP":
        said -= {"rel"} if {"gain", "max"} <= said else {"max"} if "gain" not in said else {"rel"}
    of_name = VALUES | ({"beta": VALUES["p"]} if name in {"NRBP", "nNRBP"} else {})
    if {"min_rel", "max"} <= said:
        least = draw(st.integers(0, 998))
        of_name |= {"min_rel": st.just(least), "max": st.integers(least + 1, 1000)}
    values: dict[str, Value] = {parameter: draw(of_name[parameter]) for parameter in PARAMETERS if parameter in said}
    usual = definition.takes
    cutoff = None if "compat" in said else cutoff
    return Measure(name, cutoff, tuple((key, value) for key, value in values.items() if value != usual.get(key)))


@given(measures_in_full())
def test_a_printed_name_is_read_as_the_same_measure(measure: Measure) -> None:
    assert parse_measure(str(measure)) == measure


@given(measures_in_full())
def test_a_name_for_ir_measures_is_read_as_the_same_measure(measure: Measure) -> None:
    assert parse_measure(measure.in_ir_measures) == measure


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("nDCG(gain=exp)@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(gain={1:3,2:9})", "nDCG(gains={1:3,2:9})"),
        ("INST(T=2,max=4)", "INST(T=2.0,max_rel=4)"),
        ("SetF(beta=2)", "SetF(beta=2.0)"),
        ("P(judged_only=True)@5", "P(judged_only=True)@5"),
    ],
)
def test_a_name_can_be_written_for_ir_measures(ours: str, theirs: str) -> None:
    assert parse_measure(ours).in_ir_measures == theirs
    ir_measures.parse_measure(theirs).validate_params()  # type: ignore[no-untyped-call]


@given(measures_in_full())
def test_a_name_is_read_the_same_in_small_letters(measure: Measure) -> None:
    # But for rbp alone, which is trec_eval's name for RBP(p=0.9).
    written = str(measure).lower()
    assert parse_measure(written if written != "rbp" else "Rbp") == measure


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("P@0", "The cutoff of P must be a whole number from 1 to 999999999, not “0”."),
        ("nDCG@-1", "The cutoff of nDCG must be a whole number from 1 to 999999999, not “-1”."),
        ("nDCG@ten", "The cutoff of nDCG must be a whole number from 1 to 999999999, not “ten”."),
        ("nDCG@", "The cutoff of nDCG must be a whole number from 1 to 999999999, not “”."),
        ("P@5@10", "The cutoff of P must be a whole number from 1 to 999999999, not “5@10”."),
        ("P@1000000000", "The cutoff of P must be a whole number from 1 to 999999999, not “1000000000”."),
        ("P@٣", "The cutoff of P must be a whole number from 1 to 999999999, not “٣”."),
        ("IPrec", "IPrec needs a level, such as IPrec@0.1."),
        ("IPrec@1.1", "The level of IPrec must be a number from 0 to 1, not “1.1”."),
        ("IPrec@-0.1", "The level of IPrec must be a number from 0 to 1, not “-0.1”."),
        ("IPrec@nan", "The level of IPrec must be a number from 0 to 1, not “nan”."),
        ("Rprec_mult@1e999", "The level of Rprec_mult must be a number from 0 to 1000, not “1e999”."),
        ("Judged", "Judged needs a cutoff, such as Judged@10."),
        ("precision", "P needs a cutoff, such as P@10."),
        ("Bpref@10", "Bpref takes no cutoff; write just Bpref."),
        (
            "nDCG(rel=2)",
            (
                "nDCG takes no rel, since it does not ask from which grade on documents are relevant; it takes gain, "
                "judged_only."
            ),
        ),
        ("P@5(rel=2)@10", "The cutoff of P must be a whole number from 1 to 999999999, not “5(rel=2)@10”."),
        ("P@5,10", "The cutoff of P must be a whole number from 1 to 999999999, not “5,10”."),
        ("AP(rel=0)", "The rel of AP must be a whole number from 1 to 999999999, not “0”."),
        ("AP(rel=1,rel=2)", "AP has rel twice."),
        ("nDCG(gain=exp,dcg=exp)", "nDCG has gain twice."),
        ("AP(2)", "AP does not take “2” in brackets; it takes rel, norm, judged_only."),
        ("AP(k=10)", "AP does not take “k=10” in brackets; it takes rel, norm, judged_only."),
        ("AP(p=0.8)", "AP takes no p; it takes rel, norm, judged_only."),
        ("NumQ(p=0.8)", "NumQ takes no p; it takes judged_only."),
        ("RBP(p=1)", "The p of RBP must be a number between 0 and 1, not “1”."),
        ("RBP(p=2)", "The p of RBP must be a number between 0 and 1, not “2”."),
        ("RBP(p=)", "The p of RBP must be a number between 0 and 1, not “”."),
        ("SetF(beta=0)", "The beta of SetF must be a number above 0 and at most 1000000, not “0”."),
        ("SetF(beta=1e7)", "The beta of SetF must be a number above 0 and at most 1000000, not “1e7”."),
        ("ERR(max=1001)", "The max of ERR must be a whole number from 1 to 1000, not “1001”."),
        ("AP(norm=max)@5", "The norm of AP can only be min, not “max”."),
        ("AP(norm=min)", "AP takes a norm only with a cutoff, such as AP(norm=min)@10."),
        ("xinfAP(prior=half)", "The prior of xinfAP can only be stratum, not “half”."),
        ("AP(judged_only=yes)", "The judged_only of AP must be True or False, not “yes”."),
        ("nDCG(gain=log)", "The gain of nDCG must be linear, exp, or gains by grade such as {1:3,2:9}, not “log”."),
        (
            "nDCG(gain={1:3,1:4})",
            "The gain of nDCG must be linear, exp, or gains by grade such as {1:3,2:9}, not “{1:3,1:4}”.",
        ),
        (
            "nDCG(gain={1:-3})",
            "The gain of nDCG must be linear, exp, or gains by grade such as {1:3,2:9}, not “{1:-3}”.",
        ),
        (
            "nDCG(gain={1:1e300})",
            "The gain of nDCG must be linear, exp, or gains by grade such as {1:3,2:9}, not “{1:1e300}”.",
        ),
        (
            "nDCG(gain={})",
            "The gain of nDCG must be linear, exp, or gains by grade such as {1:3,2:9}, not “{}”.",
        ),
        ("Accuracy", "Accuracy needs the number of documents in the corpus, such as Accuracy(docs=100000)."),
        ("RBP(rel=2,gain=exp)", "RBP takes either rel (binary) or gain and max (graded), not both."),
        ("RBP(max=4)", "RBP takes max only with gain, such as RBP(gain=linear,max=4)."),
        ("P", "“P” stands for 9 measures; name one of them, such as P@5."),
        ("recall", "“recall” stands for 9 measures; name one of them, such as R@5."),
        ("P_5,10", "“P_5,10” stands for 2 measures; name one of them, such as P@5."),
        ("set", "“set” stands for 10 measures; name one of them, such as NumQ."),
        ("runid", "“runid” is no measure but a line of trec_eval's output; only that format shows it."),
        ("relstring.5", "“relstring.5” is no measure but a line of trec_eval's output; only that format shows it."),
        ("nDGC@10", "There is no measure “nDGC@10”; the nearest names are: nDCG, Rndcg, NCG."),
        ("num_rels", "There is no measure “num_rels”; the nearest names are: num_rel, NumRel, num_ret."),
        ("officia", "There is no measure “officia”; the nearest names are: official."),
    ],
)
def test_a_measure_that_makes_no_sense_is_refused_in_a_sentence(written: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        parse_measure(written)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    "brackets",
    [
        *(",", "{", "}", "(", ")", "'", '"'),
        *("rel=2)", "(rel=2", "rel=2)(rel=3", "rel=2)@5", "rel=2,", ",rel=2", "rel=2,,p=3"),
        *("gain={{1:3}", "gain={1:3", "norm='min\""),
    ],
)
def test_brackets_that_are_not_well_formed_are_refused(brackets: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        parse_measure(f"P({brackets})@5")
    assert str(refusal.value) == (
        f"The brackets of “P({brackets})@5” are not well-formed; they should look as in P(rel=2,judged_only=True)@10."
    )


@pytest.mark.parametrize("written", ["", ",", "@10", "foo", "zzzz", "!", "AP\n(rel=2)\x00"])
def test_a_name_near_nothing_is_answered_with_how_many_there_are(written: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        parse_measures([written])
    assert str(refusal.value) == (
        f"There is no measure “{written}”, and none of the {len(MEASURES)} that there are has a name like it."
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        # scikit-learn: f1_score, precision_score, ndcg_score; ranx: hits, r-precision, f1;
        # MTEB, sentence-transformers: ndcg_at_10, recall_at_5; ir_measures: SetF; papers: MRR10, F, Hit-Rate@3.
        *(("F", "SetF"), ("F1", "SetF"), ("F@10", "SetF"), ("F1@10", "SetF"), ("Fmeasure", "SetF")),
        *(("f1_score", "SetF"), ("f-measure(beta=2)", "SetF(beta=2)"), ("set_F(beta=2)", "SetF(beta=2)")),
        *(("Prec@10", "P@10"), ("prec", "P@10"), ("P10", "P@10"), ("precision_at_5", "P@5"), ("precision10", "P@10")),
        *(("recall_at_5", "R@5"), ("rec@5", "R@5"), ("MRR10", "RR@10"), ("mrr_10", "RR@10"), ("rr-5", "RR@5")),
        *(("recip_rank@10", "RR@10"), ("mean reciprocal rank", "RR"), ("average_precision", "AP"), ("map10", "AP@10")),
        *(("ndcg_at_10", "nDCG@10"), ("ndcg10", "nDCG@10"), ("ndcg_cut@10", "nDCG@10"), ("ndcg_score", "nDCG")),
        *(("hits@10", "Success@10"), ("hitat1", "Success@1"), ("Hit-Rate@3", "Success@3"), ("hits", "Success@10")),
        *(
            ("r-precision", "Rprec"),
            ("bpref10", "Bpref"),
            ("iprec_at_recall@0.1", "IPrec@0.1"),
            ("false_negatives", "FN"),
        ),
    ],
)
def test_a_measure_as_others_call_it_is_answered_with_what_is_meant(written: str, meant: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        parse_measure(written)
    assert str(refusal.value) == f"There is no measure “{written}”; perhaps {meant} is meant."
    assert str(parse_measure(meant)) == meant


def test_names_elsewhere_are_told_for_measures_that_there_are_and_are_no_names_here() -> None:
    assert set(ELSEWHERE) <= set(MEASURES)
    assert not {other for others in ELSEWHERE.values() for other in others} & set(NAMES)


@pytest.mark.parametrize(
    ("written", "measures"),
    [
        ("nDCG@10,AP", "nDCG@10 AP"),
        (" nDCG@10 , AP ", "nDCG@10 AP"),
        ("AP,,RR,", "AP RR"),
        ("P.5,10", "P@5 P@10"),
        ("P.5,10,AP,P_20,30", "P@5 P@10 AP P@20 P@30"),
        ("AP,11pt_avg", "AP 11ptAvg"),
        ("iprec_at_recall.1,.5,RR", "IPrec@0.5 IPrec@1 RR"),
        ("ndcg.1=3,2=9,map", "nDCG(gain={1:3,2:9}) AP"),
        ("P(rel=2,judged_only=True)@5,AP", "P(rel=2,judged_only=True)@5 AP"),
        ("nDCG(gain={1:3,2:9})@5,nDCG@5(gain='1=3,2=9')", "nDCG(gain={1:3,2:9})@5"),
    ],
)
def test_commas_part_names_but_not_what_belongs_to_one(written: str, measures: str) -> None:
    assert " ".join(map(str, parse_measures([written]))) == measures


def test_of_several_names_the_wrong_one_is_quoted() -> None:
    with pytest.raises(InvalidValueError, match=r"^There is no measure “Prec@10”; perhaps P@10 is meant.$"):
        parse_measures(["AP,Prec@10"])


SCRAPS = st.lists(
    st.sampled_from([*NAMES, *PARAMETERS, *ALSO_CALLED, *"@_.,=()'\" -0123459", "{1:3}", "0.5", "exp", "True"]),
    max_size=9,
).map("".join)


@given(st.text(max_size=12) | SCRAPS)
def test_any_text_is_a_measure_or_refused(text: str) -> None:
    try:
        measure = parse_measure(text)
    except InvalidValueError:
        return
    assert parse_measure(str(measure)) == measure


def test_a_name_across_lines_is_read_or_refused_like_any_other() -> None:
    assert [str(measure) for measure in parse_measures(["AP(rel=2\n)@5", "P@5(rel=\n2)"])] == [
        "AP(rel=2)@5",
        "P(rel=2)@5",
    ]
    for written in ("RBP(p=0.95)\nRBP(p=0.95)", "AP(r\nel)@5", "P@\n5x"):
        with pytest.raises(InvalidValueError):
            parse_measures([written])
