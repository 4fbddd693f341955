"""Features with more than one value to move to: a choice of steps as a set of moves that each imply the one before."""
