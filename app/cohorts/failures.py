"""What may end a run early."""


class SolverFailed(Exception):
    """A bug in Flipset: the rows that could not be answered, and where in the code."""


class NoCluster(Exception):
    """Ray cannot be reached or started."""
