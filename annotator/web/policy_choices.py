"""The consensus policies as a form offers them."""

from wtforms import SelectChoice

from annotator.web.sentences import say
from annotator.web.words import POLICIES
from annotator.workflows.collection import consensus_policies


def policy_choices() -> list[SelectChoice]:
    """Every policy with its name and the sentence that explains it."""
    return [
        SelectChoice(name, f"{POLICIES.get(name, name)}: {say(sentence)}")
        for name, sentence in consensus_policies().items()
    ]
