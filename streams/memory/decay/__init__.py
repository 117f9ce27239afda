"""Fading, reinforcement and archiving: pure functions of stored fields and an explicit `now`."""

from streams.memory.decay.access import reinforce
from streams.memory.decay.digest import Folded, fold_session, unfold
from streams.memory.decay.due import CLOSED, Due, carry_out, due
from streams.memory.decay.evidence import with_evidence
from streams.memory.decay.fading import effective_importance, last_active, state
from streams.memory.decay.plan import Planned, plan
from streams.memory.decay.telling import Told, tell
from streams.memory.decay.windows import WINDOW, window_start, windows

__all__ = [
    "CLOSED",
    "WINDOW",
    "Due",
    "Folded",
    "Planned",
    "Told",
    "carry_out",
    "due",
    "effective_importance",
    "fold_session",
    "last_active",
    "plan",
    "reinforce",
    "state",
    "tell",
    "unfold",
    "window_start",
    "windows",
    "with_evidence",
]
