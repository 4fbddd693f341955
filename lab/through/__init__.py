"""Seeing through models with 30 features and more: how much is proved, how quickly, and whether it is true."""

import app as app  # before NumPy, which reads the number of its threads once
