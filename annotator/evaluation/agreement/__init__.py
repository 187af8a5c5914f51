"""Agreement of judges: kappa and related coefficients, Krippendorff's alpha, intervals, and verbal bands.

`code_columns` takes judgements as plain columns, and `report` computes all statistics of them. Each statistic is also
available alone: for two judges from their confusion matrix, for many from the count of each grade of an item. An
undefined value has a reason (`Undefined`); it is never 0, 1 or NaN.
"""
