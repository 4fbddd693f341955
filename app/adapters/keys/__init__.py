"""Keys: who may ask, for what, and how often."""
