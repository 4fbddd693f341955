"""What the Dockerfile and docker-compose.yml promise. That the image is built and answers is tried elsewhere."""

import re
import subprocess
from pathlib import Path

import yaml

from app import __version__
from app.adapters.keys.key_file import read_keys
from tests.support.live_server import FLIPSET, ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
# What runs: all that stands after the last FROM.
SERVICE_STAGE = DOCKERFILE.rpartition("\nFROM ")[2]
SERVICE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["flipset"]


def test_the_image_carries_the_version_of_the_package():
    assert f'image.version="{__version__}"' in SERVICE_STAGE


def test_whoever_runs_the_image_says_who_may_ask():
    assert "ALLOW_ANONYMOUS" not in DOCKERFILE
    assert "FLIPSET_ALLOW_ANONYMOUS" not in SERVICE["environment"]


def test_the_image_runs_without_rights_and_installs_nothing():
    assert "\nUSER 10001:10001\n" in SERVICE_STAGE
    assert "\nRUN " not in SERVICE_STAGE


def test_the_image_holds_what_registers_and_predictors_need():
    """Otherwise `docker run flipset flipset cohort` would end with the name of a package to install."""
    before_the_service, _, _ = DOCKERFILE.partition("COPY app")
    assert "--require-hashes --requirement /build/requirements/image.txt" in before_the_service
    assert "!requirements/hashes/image.txt" in (ROOT / ".dockerignore").read_text().splitlines()


def test_the_image_installs_the_versions_of_the_other_files_by_their_digests():
    """`make hashes` writes it anew."""
    sources = [ROOT / "requirements" / f"{name}.txt" for name in ("service", "cohort", "predictors", "records", "cds")]
    pinned = {line for file in sources for line in file.read_text().splitlines() if line and not line.startswith("#")}
    hashed = (ROOT / "requirements/hashes/image.txt").read_text()
    assert set(re.findall(r"^(\S+==\S+) \\$", hashed, flags=re.MULTILINE)) == pinned
    assert "://" not in hashed


def test_the_first_key_is_made_in_the_image(tmp_path: Path):
    """As user 10001, who owns the folder; the documented command names the image first and then this one."""
    documented = (ROOT / "docs" / "operations.md").read_text()
    (made,) = re.findall(r"docker run --rm --volume \./keys:/keys flipset (flipset keys add .*)\n", documented)
    words = [FLIPSET if word == "flipset" else word.replace("/keys/", f"{tmp_path}/") for word in made.split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "flipset_ward-7_" in done.stdout
    assert list(read_keys(tmp_path / "keys.toml")) == ["ward-7"]


def test_the_composed_service_can_write_nowhere_but_in_its_memory():
    assert SERVICE["read_only"] is True
    assert all(volume.endswith(":ro") for volume in SERVICE["volumes"])
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert set(SERVICE["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}


def test_the_composed_service_reads_its_keys_from_a_secret():
    """One file, which is why a change needs a restart; docs/operations.md says so."""
    (secret,) = SERVICE["secrets"]
    assert SERVICE["environment"]["FLIPSET_KEYS_FILE"] == f"/run/secrets/{secret}"


def test_a_model_on_trial_in_the_composed_service_runs_into_its_own_limit_first():
    memory = SERVICE["deploy"]["resources"]["limits"]["memory"]
    assert memory == "2G"
    assert int(SERVICE["environment"]["FLIPSET_MODEL_MEMORY_MB"]) <= 1024
