"""Optional groups of the package. Flipset is on no package index, so you install the packages of a group yourself."""

from importlib.metadata import requires


def how_to_install(group: str) -> str:
    """The command that installs what a group holds, beside the package that is there."""
    wanted = [entry.partition(";") for entry in requires("flipset") or ()]
    packages = [f'"{package.strip()}"' for package, _, when in wanted if when.strip(" \"'").endswith(group)]
    return " ".join(("pip install", *packages))
