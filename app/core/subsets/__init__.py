"""Subsets of moves: as machine words, as levels of the lattice, as rows for the model, and what they cost."""
