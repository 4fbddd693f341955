"""Many people at once: posed in arrays, and judged in one call of the model."""
