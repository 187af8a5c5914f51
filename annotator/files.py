"""A file as somebody sent it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class InputFile:
    """The bytes of a file, perhaps gzipped, under the name its sender knows it by."""

    name: str
    content: bytes
