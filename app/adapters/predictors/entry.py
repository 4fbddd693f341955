"""The table `[predictor]` of a `model.toml`."""

from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, field_validator

from app.adapters.files.toml_files import Entry, Finite


class PredictorEntry(Entry):
    """Where a model lives, and how to ask it. Only the operator's file says so, never a request."""

    # Without it, FLIPSET_PREDICTOR_URL says where.
    url: str | None = None
    # The folder's name, unless the server calls the model something else.
    model: str | None = Field(default=None, min_length=1)
    version: str | None = Field(default=None, min_length=1)
    # For servers that do not describe their models.
    input: str | None = Field(default=None, min_length=1)
    datatype: Literal["FP32", "FP64", "INT64", "INT32", "BOOL"] = "FP32"
    tensors: Literal["auto", "json", "binary"] = "auto"
    # The most rows of one call, and the most calls at a time.
    batch: int = Field(default=4096, ge=1, le=65_536)
    in_flight: int = Field(default=4, ge=1, le=64)
    # Seconds that one call may take, and how often a call is tried again.
    timeout: Finite = Field(default=5.0, gt=0, le=600)
    retries: int = Field(default=2, ge=0, le=10)
    # Files, from the model's folder: a key, sent as a bearer token, and certificates to trust besides the usual.
    key_file: str | None = Field(default=None, min_length=1)
    ca_file: str | None = Field(default=None, min_length=1)

    @field_validator("url")
    @classmethod
    def _is_plain(cls, url: str | None) -> str | None:
        return None if url is None else checked_url(url)

    def path(self, folder: Path) -> str:
        """Where the protocol has this model."""
        version = "" if self.version is None else f"/versions/{quote(self.version, safe='')}"
        return f"/v2/models/{quote(self.model or folder.name, safe='')}{version}"


def checked_url(url: str) -> str:
    """The address of a server, without the slash at its end; `ValueError` if it is none."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not url.isascii() or any(character.isspace() for character in url):
        raise ValueError("must be an address such as http://predictor:8080")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must hold no password: put the key into a file, and name it in key_file")
    if parts.query or parts.fragment:
        raise ValueError("must end with its path, without ? or #")
    return url.rstrip("/")
