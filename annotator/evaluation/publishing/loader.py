"""The module of a kit that makes the collection known to ir_datasets; it reads everything from the kit."""

from pathlib import Path

# Text, not a module of this package: it imports ir_datasets, and people who download a kit run it.
SOURCE = Path(__file__).with_name("ir_datasets_loader.py.txt")


def loader() -> bytes:
    """The module as it is published."""
    return SOURCE.read_bytes()
