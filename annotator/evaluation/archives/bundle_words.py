"""Words in an archive that its tables would take and this program does not know."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from annotator.clicks.evaluation.logs.kept_findings import are_findings
from annotator.errors import InvalidValueError
from annotator.evaluation.costs.facts import Kind
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.pooling.strategies import STRATEGIES
from annotator.evaluation.qrels.consensus import parse_policy


def refuse_unknown_words(table: str, row: Mapping[str, Any], *, further_strategies: AbstractSet[str]) -> None:
    """Refuse by `InvalidValueError` a policy, a strategy, a kind or findings that this program does not know.

    `further_strategies` are names of how a pool came about besides those of `STRATEGIES`.
    """
    if table == "collection":
        parse_policy(str(row["consensus_policy"]))
    if table == "pool" and row["strategy"] not in STRATEGIES.keys() | further_strategies:
        raise InvalidValueError("“%(column)s” is not of its kind.", column="strategy")
    if table == "fact_column" and (row["kind"] not in set(Kind) or row["better"] not in set(Better)):
        raise InvalidValueError("“%(column)s” is not of its kind.", column="kind")
    if table == "click_log" and not are_findings(row["options"], row["findings"]):
        raise InvalidValueError("“%(column)s” is not of its kind.", column="findings")
