"""Seeing through networks: layers, sound bounds over many subsets at once, and the subsets that may be favourable."""
