"""Mapped classes, their enums and conditions. All of storage imports them; they import nothing from it."""
