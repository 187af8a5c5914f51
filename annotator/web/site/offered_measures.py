"""Measures that the forms of organisers offer."""

# The page offers these to tick; any other can be written beside them.
OFFERED_MEASURES = (
    *("nDCG@10", "nDCG@20", "nDCG", "AP", "P@5", "P@10", "P@20", "R@100", "R@1000", "RR", "RR@10"),
    *("Rprec", "Bpref", "Success@1", "Success@10", "Judged@10", "NumRet", "NumRel", "NumRelRet"),
)
