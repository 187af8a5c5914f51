"""What trec_eval would print: golden files, the order of lines, its oddities, and what its format cannot show."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.evaluating import evaluate
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.metrics.trec_eval_output import measures_to_print, trec_eval_report

GOLDEN = Path(__file__).parents[2] / "golden" / "trec_eval"
GOLDEN_ASKED = [
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "recip_rank", "P.1,2"),
    *("relstring", "recall.2", "ndcg_cut.2", "success.1", "set_P", "set_F", "set_F.0.25"),
]
RBP_REFUSED = (
    "What trec_eval prints for rbp and rbp_resid is not what they are defined to be, so its format cannot show %s; "
    "the other formats do."
)
TEN, NINE = Compat.TREC_EVAL_10, Compat.TREC_EVAL_9
QRELS = {"1": {"a": 2, "b": 0, "c": -1}, "2": {"a": 1, "z": 3}}
RUN = {"1": {"b": 3.0, "c": 2.0, "a": 1.0}, "2": {"x": 2.0, "a": 1.0}}


def report(
    asked: Sequence[str],
    compat: Compat = TEN,
    *,
    qrels: Mapping[str, Mapping[str, int]] = QRELS,
    runs: Mapping[str, Mapping[str, Mapping[str, float]]] | None = None,
    run: int = 0,
    relevant_from: int = 1,
    judged_only: bool = False,
) -> str:
    """Score values and print them."""
    evaluation = evaluate(
        qrels,
        runs or {"made": RUN},
        measures_to_print(asked, compat),
        relevant_from=relevant_from,
        judged_only=judged_only,
        compat=compat,
    )
    return trec_eval_report(evaluation.scores, run, evaluation.runs[run], asked, compat)


def parts(printed: str) -> list[tuple[str, str, str]]:
    """Take lines apart into label, topic and value."""
    return [(label.rstrip(), topic, value) for label, topic, value in (row.split("\t") for row in printed.splitlines())]


@pytest.mark.parametrize(("compat", "also"), [(TEN, ["unj.5"]), (NINE, [])])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_golden_case_is_printed_byte_for_byte_however_it_is_asked(
    compat: Compat, also: list[str], *, backwards: bool
) -> None:
    asked = [*GOLDEN_ASKED, *also][:: -1 if backwards else 1]
    evaluation = evaluate(GOLDEN / "qrels", [GOLDEN / "run"], measures_to_print(asked, compat), compat=compat)
    printed = trec_eval_report(evaluation.scores, 0, evaluation.runs[0], asked, compat)
    assert printed == (GOLDEN / f"expected_{compat.value}").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        (["P_10", "map", "P.5"], "map P_5 P_10"),
        (["ndcg_cut.1000,5", "num_ret"], "num_ret ndcg_cut_5 ndcg_cut_1000"),
        (["iprec_at_recall.1,0.1"], "iprec_at_recall_0.10 iprec_at_recall_1.00"),
        (["set_F.0.5", "set_F", "set_F.2.50"], "set_F set_F_0.5 set_F_2.50"),
        (["ndcg.2=9,1=3", "ndcg"], "ndcg ndcg_2=9,1=3"),
        (["relstring.2"], "relstring_2"),
        (["P_5", "P@5", "P.5"], "P_5"),
        # Our own names of what trec_eval has too.
        (["nDCG@10", "AP", "AP@5", "R@3", "RR"], "map recip_rank recall_3 ndcg_cut_10 map_cut_5"),
        (["nDCG(gain={1:3,2:9.5})", "nDCG"], "ndcg ndcg_1=3,2=9.5"),
        (["SetF(beta=2)", "SetF"], "set_F set_F_4"),
        ([f"SetF(beta={0.5**0.5!r})"], "set_F_0.5"),
        (["IPrec@0.1", "Rprec_mult@1.2"], "iprec_at_recall_0.10 Rprec_mult_1.20"),
        (["Unjudged@5", "Success@1", "DCG"], "dcg success_1 unj_5"),
    ],
)
def test_lines_stand_in_trec_evals_order_under_its_labels_each_once(asked: list[str], labels: str) -> None:
    assert [label for label, topic, _ in parts(report(asked)) if topic == "1"] == labels.split()


@pytest.mark.parametrize(
    ("nickname", "under_a_topic", "under_all"),
    [("official", 7 + 11 + 9, 10 + 11 + 9), ("set", 9, 11), ("all_trec", 94, 97)],
)
def test_nicknames_print_all_they_list(nickname: str, under_a_topic: int, under_all: int) -> None:
    # official: num_ret to recip_rank, 11 recalls and 9 ranks; under all also runid, num_q and gm_map. all_trec: further
    # relstring (not under all) and gm_bpref (only there), 9 ranks of recall, 10 of Rprec_mult, 3 x 9 of ndcg_cut,
    # map_cut and relative_P, 3 of success and of unj, and 14 that are one line each.
    topics = [topic for _, topic, _ in parts(report([nickname]))]
    assert (topics.count("1"), topics.count("2"), topics.count("all")) == (under_a_topic, under_a_topic, under_all)


def test_9_0_8_has_no_unj_in_all_trec() -> None:
    labels = [label for label, _, _ in parts(report(["all_trec"]))]
    assert [label for label, _, _ in parts(report(["all_trec"], NINE))] == [
        label for label in labels if not label.startswith("unj")
    ]


@pytest.mark.parametrize("family", ["runid", "num_q", "gm_map", "gm_bpref"])
def test_some_lines_stand_only_under_all(family: str) -> None:
    assert [(label, topic) for label, topic, _ in parts(report([family]))] == [(family, "all")]


def test_relstrings_stand_only_under_topics_and_have_a_sign_a_document() -> None:
    qrels = {"t": {f"d{grade:02}": grade for grade in (*range(12), -1, -7)}}
    run = {"t": {**{docno: float(grade) for docno, grade in qrels["t"].items()}, "none": -3.0}}
    assert parts(report(["relstring.99"], qrels=qrels, runs={"r": run})) == [("relstring_99", "t", "'>>9876543210.-.'")]
    assert parts(report(["relstring"], qrels=qrels, runs={"r": run})) == [("relstring", "t", "'>>98765432'")]
    assert parts(report(["relstring"], qrels=qrels, runs={"r": run}, judged_only=True)) == [
        ("relstring", "t", "'>>98765432'")
    ]


def test_relstrings_of_condensed_lists_leave_the_unjudged_out() -> None:
    assert [value for _, _, value in parts(report(["relstring"]))] == ["'0.2'", "'-1'"]
    assert [value for _, _, value in parts(report(["relstring"], judged_only=True))] == ["'02'", "'1'"]


def test_relstrings_of_topics_that_the_run_lacks_are_empty_only_under_their_usual_name() -> None:
    # trec_eval 10 makes up a document there, and with -m relstring.5 leaves its sign in the string.
    runs = {"second": {"2": {"x": 2.0, "z": 1.0}}}
    asked = ["relstring", "relstring.1", "relstring.5"]
    of_1 = {label: value for label, topic, value in parts(report(asked, runs=runs)) if topic == "1"}
    assert of_1 == {"relstring": "''", "relstring_1": "'-'", "relstring_5": "'-'"}
    condensed = parts(report(asked, runs=runs, judged_only=True))
    assert [value for _, topic, value in condensed if topic == "1"] == ["''"] * 3
    assert [topic for _, topic, _ in parts(report(asked, NINE, runs=runs))] == ["2"] * 3
    # A list of unjudged documents alone is no missing one.
    unjudged = {"r": {"1": {"c": 1.0, "x": 2.0, "y": 3.0}}}
    assert parts(report(["relstring.5"], runs=unjudged))[0] == ("relstring_5", "1", "'--.'")
    assert parts(report(["relstring.5"], runs=unjudged, judged_only=True))[0] == ("relstring_5", "1", "''")


def test_one_run_of_several_is_printed() -> None:
    runs = {"first": RUN, "second": {"2": {"z": 1.0}}}
    assert parts(report(["runid", "num_ret", "relstring"], runs=runs, run=1)) == [
        ("num_ret", "1", "0"),
        ("relstring", "1", "''"),
        ("num_ret", "2", "1"),
        ("relstring", "2", "'3'"),
        ("runid", "all", "second"),
        ("num_ret", "all", "1"),
    ]
    assert parts(report(["num_ret"], NINE, runs=runs, run=1)) == [("num_ret", "2", "1"), ("num_ret", "all", "1")]


def test_num_rel_of_all_topics_counts_every_grade_above_0_whatever_counts_as_relevant() -> None:
    assert parts(report(["num_rel"], relevant_from=3)) == [
        ("num_rel", "1", "0"),
        ("num_rel", "2", "1"),
        ("num_rel", "all", "3"),
    ]


@pytest.mark.parametrize(
    ("asked", "compat", "sentence"),
    [
        ("ERR@10", TEN, "trec_eval does not have ERR@10, so its format cannot show it; the other formats do."),
        ("AP(rel=2)", TEN, "trec_eval does not have AP(rel=2), so its format cannot show it; the other formats do."),
        (
            "P(judged_only=True)@5",
            TEN,
            "trec_eval does not have P(judged_only=True)@5, so its format cannot show it; the other formats do.",
        ),
        ("RR@10", TEN, "trec_eval does not have RR@10, so its format cannot show it; the other formats do."),
        (
            "nDCG(gain=exp)",
            TEN,
            "trec_eval does not have nDCG(gain=exp), so its format cannot show it; the other formats do.",
        ),
        (
            "nDCG(gain={1:3})@5",
            TEN,
            "trec_eval does not have nDCG(gain={1:3})@5, so its format cannot show it; the other formats do.",
        ),
        (
            "SetF(rel=2,beta=2)",
            TEN,
            "trec_eval does not have SetF(rel=2,beta=2), so its format cannot show it; the other formats do.",
        ),
        ("unj", NINE, "trec_eval 9.0.8 does not have unj_5, so its format cannot show it; the other formats do."),
        ("dcg", NINE, "trec_eval 9.0.8 does not have dcg, so its format cannot show it; the other formats do."),
        (
            "Unjudged@7",
            NINE,
            "trec_eval 9.0.8 does not have unj_7, so its format cannot show it; the other formats do.",
        ),
        *((name, TEN, RBP_REFUSED % name) for name in ("rbp", "rbp.p=0.8", "rbp_resid", "RBP", "RBPResidual@5")),
        ("yaap", TEN, "trec_eval's yaap is not computed here."),
        ("officia", TEN, "There is no measure “officia”; the nearest names are: official."),
    ],
)
def test_what_trec_eval_would_not_print_is_refused_in_a_sentence(asked: str, compat: Compat, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        measures_to_print(["map", asked], compat)
    assert str(refusal.value) == sentence
