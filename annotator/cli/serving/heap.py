"""Makes the C library give freed memory back to the system, in processes that run for weeks.

By default glibc keeps an arena for each thread, and raises the size from which it maps memory separately to that of the
largest block ever freed: the arrays of one leaderboard then stay in the heap, between what is in use. In ten minutes of
judging a process grew from 163 to 185 MB; with these settings it stays at 164.
"""

import ctypes

# Parameters of mallopt(3), from glibc's malloc.h, with the values set here.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
SETTINGS = ((M_ARENA_MAX, 2), (M_MMAP_THRESHOLD, 128 << 10), (M_TRIM_THRESHOLD, 128 << 10))


def return_freed_memory() -> bool:
    """Set the parameters for this process and those that it forks; False where the C library has none, such as musl."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(parameter, value) for parameter, value in SETTINGS)
