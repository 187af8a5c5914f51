"""Agreement of judges: kappa and its kin, Krippendorff's alpha, intervals, and words for them.

`code_columns` takes judgements as plain columns, and `report` measures them whole. Below it, every statistic stands by
itself: of two judges from their confusion matrix, of many from the count of each grade an item was given. What has no
value says why (`Undefined`); it is never 0, 1 or NaN.
"""
