"""Values that follow from others in every row: derived features, and what moves along with a cause."""
