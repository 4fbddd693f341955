"""What the image runs: a command, or the service with the arguments that KServe gives to an explainer."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path


def main() -> None:
    """Become the command that the arguments name, or `flipset serve` with settings from KServe's arguments."""
    command = sys.argv[1:] or ["flipset", "serve"]
    environment = dict(os.environ)
    if command[0].startswith("-"):
        environment |= settings_from(command, environment)
        command = ["flipset", "serve"]
    # No shell is in between: the service is process 1 and gets the signals itself.
    os.execvpe(command[0], command, environment)  # noqa: S606


def settings_from(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that KServe's arguments stand for; arguments that mean nothing to Flipset are passed over."""
    parser = ArgumentParser("flipset", allow_abbrev=False)
    parser.add_argument("--model_name", help="the InferenceService's name: a folder of models")
    parser.add_argument("--predictor_host", help="where its predictor listens, as host or host:port")
    parser.add_argument("--http_port", type=int, help="the port to listen on")
    parser.add_argument("--workers", type=int, help="processes that serve")
    given, unknown = parser.parse_known_args(arguments)
    if unknown:
        sys.stderr.write(f"Passed over: {' '.join(unknown)}\n")
    models = Path(environment.get("FLIPSET_MODELS_DIR", "models"))
    if given.model_name is not None and not (models / given.model_name).is_dir():
        parser.error(f"--model_name: there is no folder {models / given.model_name}; name it as the InferenceService")
    host = given.predictor_host
    url = host if host is None or "://" in host else f"http://{host}"
    settings = {"PREDICTOR_URL": url, "PORT": given.http_port, "WORKERS": given.workers}
    return {f"FLIPSET_{name}": str(value) for name, value in settings.items() if value is not None}
