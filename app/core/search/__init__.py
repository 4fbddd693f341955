"""The search: engines, the oracle that they ask, the solver that proposes, and why there is no way out."""
