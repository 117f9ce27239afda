"""Sizes that every side of the wire holds to."""

# The largest value on any topic but the dead letters'.
MAX_RECORD_BYTES = 2 * 1024 * 1024
