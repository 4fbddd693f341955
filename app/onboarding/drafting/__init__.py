"""Files for a model: its description, its registry, its examples. Drafted in memory, checked, then written at once."""
