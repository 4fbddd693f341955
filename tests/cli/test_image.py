"""What KServe gives to the image as arguments, as settings."""

from pathlib import Path

import pytest

from app.cli.image import settings_from
from tests.support.live_server import ROOT

HERE = {"FLIPSET_MODELS_DIR": str(ROOT / "models")}


def test_kserves_arguments_are_settings(capsys: pytest.CaptureFixture[str]):
    given = ["--model_name", "hcv", "--predictor_host=hcv-predictor.default", "--http_port", "8080", "--workers", "2"]
    assert settings_from([*given, "--grpc_port", "9000"], HERE) == {
        "FLIPSET_PREDICTOR_URL": "http://hcv-predictor.default",
        "FLIPSET_PORT": "8080",
        "FLIPSET_WORKERS": "2",
    }
    assert capsys.readouterr().err == "Passed over: --grpc_port 9000\n"


def test_what_is_not_given_stays_as_it_is():
    assert settings_from(["--model_name", "hcv"], HERE) == {}


def test_a_model_that_is_not_there_says_what_to_name_it(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    with pytest.raises(SystemExit):
        settings_from(["--model_name", "hcv"], {"FLIPSET_MODELS_DIR": str(tmp_path)})
    assert "name it as the InferenceService" in capsys.readouterr().err
