"""The workflow of a release: what it may do, what it makes, and that what it names is here."""

import re
from typing import Any

import yaml

from app import __version__
from tests.support.live_server import ROOT

WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
DEPENDABOT = yaml.safe_load((ROOT / ".github/dependabot.yaml").read_text())


def test_no_job_may_do_more_than_it_says_and_only_those_that_publish_may_write():
    assert WORKFLOW["permissions"] == {}
    writing = {
        name: sorted(what for what, how in job["permissions"].items() if how == "write")
        for name, job in WORKFLOW["jobs"].items()
    }
    assert writing == {"test": [], "image": ["attestations", "id-token", "packages"], "chart": ["packages"]}


def test_nothing_is_published_before_every_test_has_passed():
    jobs = WORKFLOW["jobs"]
    assert jobs["test"]["steps"][-1]["run"].endswith(".ci/run")
    assert (jobs["image"]["needs"], jobs["chart"]["needs"]) == ("test", "image")


def test_the_image_is_for_both_processors_with_its_origin_and_signed():
    steps = WORKFLOW["jobs"]["image"]["steps"]
    (build,) = (step["with"] for step in steps if step.get("id") == "build")
    assert build["platforms"] == "linux/amd64,linux/arm64"
    assert (build["sbom"], build["provenance"]) == (True, "mode=max")
    assert any("cosign sign" in step.get("run", "") for step in steps)


def test_the_version_stands_where_the_workflow_reads_it():
    assert re.search(
        rf'^__version__ = "{re.escape(__version__)}"$', (ROOT / "app/__init__.py").read_text(), re.MULTILINE
    )


def test_every_folder_that_is_watched_is_here():
    for update in DEPENDABOT["updates"]:
        for folder in update.get("directories", [update.get("directory")]):
            assert (ROOT / folder.strip("/")).is_dir()
