"""Fading, reinforcement and archiving: pure functions of stored fields and an explicit `now`."""

from streams.memory.decay.access import reinforce
from streams.memory.decay.due import CLOSED, Due, carry_out, due
from streams.memory.decay.fading import effective_importance, last_active, state
from streams.memory.decay.windows import WINDOW, window_start, windows

__all__ = [
    "CLOSED",
    "WINDOW",
    "Due",
    "carry_out",
    "due",
    "effective_importance",
    "last_active",
    "reinforce",
    "state",
    "window_start",
    "windows",
]
