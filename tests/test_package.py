"""What `pip install .` brings along."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.live_server import ROOT


@pytest.mark.slow
def test_the_package_has_the_whole_page(tmp_path: Path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    packed = {name for name in names if name.startswith("app/web/")}
    page = {file.relative_to(ROOT).as_posix() for file in (ROOT / "app" / "web").rglob("*") if file.is_file()}
    assert packed == page
    assert "app/web/index.html" in page
    # The page of a report carries it inside.
    assert "app/cohorts/report/style.css" in names
