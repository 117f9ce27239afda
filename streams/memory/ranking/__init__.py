"""Recall: from a question or a dialogue to the memories that answer it, or to none."""

from streams.memory.ranking.recall import Explanation, explain_one, recall
from streams.memory.ranking.weights import DEFAULT, Weights, weighted

__all__ = ["DEFAULT", "Explanation", "Weights", "explain_one", "recall", "weighted"]
