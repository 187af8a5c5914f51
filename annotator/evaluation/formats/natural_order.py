"""The order in which people expect topic numbers and names: 2 before 10, T2 before T10."""

import re


def natural_order(text: str) -> list[tuple[int, int, str]]:
    """A sorting key in which runs of digits count by their number and the rest by its letters."""
    parts = re.findall(r"[0-9]+|[^0-9]+", text)
    return [(0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts]
