"""Drift: what the next version of a model does to the people of a register, and to the plans that they have."""
