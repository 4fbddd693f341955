"""How answers are measured and compared."""
