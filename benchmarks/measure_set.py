"""The 23 values that are timed, and how pytrec_eval calls them."""

MEASURES = (
    "map",
    "ndcg",
    "ndcg_cut.10",
    "P.5,10,20",
    "recall.100,1000",
    "recip_rank",
    "Rprec",
    "iprec_at_recall.0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0",
    "bpref",
    "set_F",
)
# As pytrec_eval gives them, in the same order.
KEYS = (
    "map",
    "ndcg",
    "ndcg_cut_10",
    *(f"P_{cutoff}" for cutoff in (5, 10, 20)),
    *(f"recall_{cutoff}" for cutoff in (100, 1000)),
    "recip_rank",
    "Rprec",
    *(f"iprec_at_recall_{tenths / 10:.2f}" for tenths in range(11)),
    "bpref",
    "set_F",
)

# Of each run by its tag, of each topic: the values in the order of `KEYS`.
Values = dict[str, dict[str, tuple[float, ...]]]
