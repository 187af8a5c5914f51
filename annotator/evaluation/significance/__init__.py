"""Statistical significance of differences between runs: intervals, tests of two runs, of a baseline and of all pairs.

Scores are arrays, (runs, topics), NaN where missing; differences are of means over topics. An undefined value has a
reason (`Undefined`); it is never 0, 1 or NaN. Random methods take a seed.
"""
