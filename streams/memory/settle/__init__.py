"""One truth per fact: every status of a neighbourhood derived by one pure function from the sorted list of items."""

from streams.memory.settle.fold import Verdict, settle
from streams.memory.settle.neighbourhood import Neighbourhood, nearness, neighbourhood
from streams.memory.settle.state import apply, keyed

__all__ = ["Neighbourhood", "Verdict", "apply", "keyed", "nearness", "neighbourhood", "settle"]
