"""Pooling: strategies that select documents of the runs for judging, and the cost of pools.

`parse_strategy` reads a strategy; `topic_runs` converts one topic's runs; the strategy then orders their documents,
samples them, or chooses one after another. `plan_depths` computes sizes in advance and `simulate` what would have been
found.
"""
