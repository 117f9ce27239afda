"""Measures an embedding model: its mean, and the cosines that tell a repeat, a conflict and an answer from the rest."""

from streams.calibration.measure import Calibration, calibrate
from streams.calibration.pairs import LABELS, LEAST, Label, Pair, built_in, filled

__all__ = ["LABELS", "LEAST", "Calibration", "Label", "Pair", "built_in", "calibrate", "filled"]
