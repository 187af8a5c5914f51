"""Pooling: which documents of the runs are to be judged, by every strategy of the field, and what a pool would cost.

`parse_strategy` reads a strategy; `topic_runs` takes one topic's runs in; the strategy then orders them, draws a sample
of them, or chooses document after document. `plan_depths` tells sizes beforehand and `simulate` what would have been
found.
"""
