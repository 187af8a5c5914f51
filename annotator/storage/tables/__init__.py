"""The mapped classes, their enums and conditions on them. All of storage imports them; they import none of it."""
