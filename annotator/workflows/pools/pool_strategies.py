"""The strategies as people choose among them: what each does, and what it is to be told."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotator.errors import Sentence
from annotator.evaluation.pooling.parameters import PARAMETERS
from annotator.evaluation.pooling.strategies import STRATEGIES, Kind

# What a plan is of while nobody has said anything: of a strategy that needs a budget, so many documents a topic.
USUAL_STRATEGY = "depth"
USUAL_DEPTH = 10
USUAL_AMOUNT = 100


@dataclass(frozen=True)
class ParameterHelp:
    """Something that a strategy takes; `usual` holds when nothing is said, None where that is no limit."""

    name: str
    text: Sentence
    usual: str | None
    needed: bool  # it, or another that is needed


@dataclass(frozen=True)
class StrategyHelp:
    """A strategy: its text is one sentence, an empty line, and where it is from."""

    name: str
    text: str
    parameters: tuple[ParameterHelp, ...]
    adaptive: bool  # goes on choosing from judgements
    sampled: bool  # draws documents by chance

    @property
    def sentence(self) -> str:
        """What it does, in one sentence."""
        return self.text.split("\n", 1)[0]


def with_usual(name: str, said: Mapping[str, str | int]) -> Mapping[str, str | int]:
    """Say what a strategy needs and was not told, for a plan; an unknown strategy is left as it is."""
    needs = STRATEGIES[name].needs if name in STRATEGIES else ()
    if not needs or any(parameter in said for parameter in needs):
        return said
    usual = {"depth": USUAL_DEPTH} if name == USUAL_STRATEGY else {"per_topic": USUAL_AMOUNT}
    return {**said, **usual}


def list_strategies() -> Mapping[str, StrategyHelp]:
    """Every strategy by name, in the order in which they are explained."""
    return {
        name: StrategyHelp(
            name,
            definition.help,
            tuple(
                ParameterHelp(parameter, PARAMETERS[parameter].help, usual, parameter in definition.needs)
                for parameter, usual in definition.takes.items()
            ),
            adaptive=definition.kind is Kind.ADAPTIVE,
            sampled=definition.kind is Kind.SAMPLE,
        )
        for name, definition in STRATEGIES.items()
    }
