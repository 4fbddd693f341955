"""No core dumps: the memory of a crashed process would hold the values of instances."""

import resource


def leave_no_core_dump() -> None:
    """For this process and all that it starts; the limit cannot be raised again."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
