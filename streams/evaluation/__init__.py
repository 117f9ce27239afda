"""The standard memory test: conversations of a test set through the product's own stages, judged in six dimensions."""

from streams.evaluation.cases import Case, load_cases
from streams.evaluation.checks import Check, judge
from streams.evaluation.memory import Memory
from streams.evaluation.report import GOALS, Score, below, scores
from streams.evaluation.run import run_cases

__all__ = ["GOALS", "Case", "Check", "Memory", "Score", "below", "judge", "load_cases", "run_cases", "scores"]
