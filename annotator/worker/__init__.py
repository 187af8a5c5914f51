"""Does what takes long beside the pages, one job after the other: a request that the pages' own view answers here."""
