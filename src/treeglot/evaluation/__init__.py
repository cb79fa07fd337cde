"""Scores: translations against references, alignments against hand-made ones."""
