"""Checks before timing that our values and the peer's are bitwise equal."""

from benchmarks.measure_set import KEYS, Values


def refuse_if_different(ours: Values, theirs: Values) -> None:
    """Compare run by run and topic by topic; a topic that the peer leaves out must have nothing but zeros.

    Raises `SystemExit`, naming the first difference.
    """
    if ours.keys() != theirs.keys():
        raise SystemExit(f"Not the same runs: {sorted(ours)} and {sorted(theirs)}")
    nothing = (0.0,) * len(KEYS)
    for tag, topics in ours.items():
        for topic, values in topics.items():
            for key, our_value, their_value in zip(KEYS, values, theirs[tag].get(topic, nothing), strict=True):
                if our_value != their_value:
                    raise SystemExit(f"{key} of {tag}, topic {topic}: {our_value!r}, but the peer says {their_value!r}")
