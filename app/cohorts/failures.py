"""What may end a run before its time."""


class SolverFailed(Exception):
    """A mistake of ours: the rows that could not be answered for, and where in the code."""


class NoCluster(Exception):
    """Ray could not be reached, or not be started."""
