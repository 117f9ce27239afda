"""Measures an embedding model's mean and cosine thresholds on sentences written for this purpose."""
