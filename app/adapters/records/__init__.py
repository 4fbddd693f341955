"""Records of answers: what is kept of each, the stores that keep it, and what proves that nobody changed it."""
