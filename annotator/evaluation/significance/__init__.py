"""Whether runs differ by more than chance: intervals, tests of two runs, of a baseline and of all pairs.

Scores are arrays, (runs, topics), NaN where a run has none; differences are of means over topics. What has no value
says why (`Undefined`); it is never 0, 1 or NaN. What is random takes a seed.
"""
