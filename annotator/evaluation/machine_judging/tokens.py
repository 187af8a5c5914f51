"""Tokens of prompts, estimated, and what they cost."""

from dataclasses import dataclass

from annotator.errors import InvalidValueError

# English has about four bytes a token with the tokenizers of today's models, other scripts rather more bytes: a rule of
# thumb for what no tokenizer of the endpoint can be asked. What the endpoint reports replaces it.
BYTES_A_TOKEN = 4
# Around each message, by the form that models are given it in.
TOKENS_A_MESSAGE = 8
PER_MILLION = 1_000_000
LONGEST_CURRENCY = 10
GREATEST_PRICE = 1_000_000


@dataclass(frozen=True)
class Tokens:
    """Tokens that were sent and received."""

    sent: int
    received: int

    @property
    def total(self) -> int:
        """Their sum."""
        return self.sent + self.received

    def times(self, count: float) -> "Tokens":
        """The tokens of as many requests."""
        return Tokens(round(self.sent * count), round(self.received * count))

    def plus(self, other: "Tokens") -> "Tokens":
        """The tokens of both."""
        return Tokens(self.sent + other.sent, self.received + other.received)


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost that are sent and received, in a currency; None: not stated."""

    sent: float | None = None
    received: float | None = None
    currency: str = ""

    def check(self) -> None:
        """Raise `InvalidValueError` for one price alone, for one below 0, and for a long name of a currency."""
        given = [price for price in (self.sent, self.received) if price is not None]
        if len(given) == 1:
            raise InvalidValueError("Give both prices, of tokens that are sent and of those received, or neither.")
        if any(not 0 <= price <= GREATEST_PRICE for price in given):  # also refuses what is no number
            raise InvalidValueError(
                "A price is a number from 0 to %(most)d, for a million tokens.", most=GREATEST_PRICE
            )
        if len(self.currency) > LONGEST_CURRENCY:
            raise InvalidValueError("A currency has at most %(most)d characters.", most=LONGEST_CURRENCY)

    def cost(self, tokens: Tokens) -> float | None:
        """What tokens cost; None without prices."""
        if self.sent is None or self.received is None:
            return None
        return (tokens.sent * self.sent + tokens.received * self.received) / PER_MILLION


@dataclass(frozen=True)
class Ceiling:
    """The limits of the tokens and of the cost of a run; None: no limit."""

    tokens: int | None = None
    cost: float | None = None

    def check(self, prices: Prices) -> None:
        """Raise `InvalidValueError` for one that is not above 0, and for one of costs without prices."""
        if (self.tokens is not None and self.tokens <= 0) or (self.cost is not None and not self.cost > 0):
            raise InvalidValueError("A ceiling is a number above 0.")
        if self.cost is not None and prices.sent is None:
            raise InvalidValueError("A ceiling in money needs the prices of this machine judge.")

    def allows(self, tokens: Tokens, prices: Prices) -> bool:
        """Whether this number of tokens is within it."""
        cost = prices.cost(tokens)
        within_tokens = self.tokens is None or tokens.total <= self.tokens
        return within_tokens and (self.cost is None or cost is None or cost <= self.cost)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, rounded up."""
    return -(-len(text.encode()) // BYTES_A_TOKEN)
