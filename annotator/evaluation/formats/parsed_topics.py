"""What a topic file says, in whatever format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParsedTopic:
    """One topic; texts that are not there are empty, `line` (from 1) is where it begins."""

    number: str
    title: str
    description: str
    narrative: str
    language: str | None
    line: int
