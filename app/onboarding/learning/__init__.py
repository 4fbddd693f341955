"""Reference intervals and lenders' limits, by the rules of the field. Arrays in, small facts out."""
