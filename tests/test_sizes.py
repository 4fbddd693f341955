"""Rooms stay small enough for `ls`, and modules for one reading."""

from pathlib import Path

from app import paths

APP = Path(paths.__file__).parent


def test_no_folder_of_the_service_has_more_than_fifteen_files():
    folders = [APP, *(path for path in APP.rglob("*") if path.is_dir() and path.name != "__pycache__")]
    assert len(folders) > 50
    assert [folder for folder in folders if sum(path.is_file() for path in folder.iterdir()) > 15] == []


def test_no_module_has_more_than_three_hundred_lines():
    modules = [*APP.rglob("*.py"), *APP.rglob("*.js")]
    assert [module for module in modules if len(module.read_text().splitlines()) > 300] == []
