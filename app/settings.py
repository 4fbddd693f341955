"""Every setting, read once from the environment by the front door and the command line."""

import json
import os
import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

# With one of these as a prefix, nobody could tell whether it has been taken off a path.
OWN_PATHS = frozenset(("/v1", "/docs", "/livez", "/readyz", "/metrics", "/openapi.json", "/web"))


def _listed(value: Any) -> Any:
    """Several values: separated by commas, or a list in JSON."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError("is neither a list in JSON nor values separated by commas") from None


def _check_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for number, origin in enumerate(origins, start=1):
        if origin != "*" and not re.fullmatch(r"https?://[^/\s]+", origin):
            raise ValueError(f"number {number} is no origin: https://name or https://name:port, and nothing behind it")
    return origins


def _check_proxies(proxies: tuple[str, ...]) -> tuple[str, ...]:
    for number, proxy in enumerate(proxies, start=1):
        if proxy != "*":
            try:
                ip_network(proxy)
            except ValueError:
                raise ValueError(f"number {number} is no address and no network such as 10.0.0.0/8") from None
    return proxies


def _check_prefix(prefix: str) -> str:
    if prefix and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", prefix):
        raise ValueError("must look like /flipset: a slash before each part, none at the end")
    first = "/".join(prefix.split("/")[:2])
    if first in OWN_PATHS:
        raise ValueError(
            f"must not begin with {first}, which is a path of Flipset's own; take another, such as /flipset"
        )
    return prefix


Several = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]


class Settings(BaseSettings):
    """Each field is the environment variable FLIPSET_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FLIPSET_", frozen=True)

    models_dir: Path = Field(default=Path("models"), description="folder of the models, one folder each")
    normal_ranges_dir: Path = Field(
        default=Path("normal_ranges"), description="folder of the registries, a TOML file each"
    )
    model_load_seconds: int = Field(default=30, ge=1, description="time that a model may take to be loaded and tried")
    model_memory_mb: int = Field(default=2048, ge=64, description="memory that a model may take to be loaded and tried")
    model_file_mb: int = Field(default=256, ge=1, description="largest model.onnx")
    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    keys_file: Path | None = Field(default=None, description="file of the keys; unset: everyone may ask")
    allow_anonymous: bool = Field(
        default=False, description="serve without keys on an address that others can reach; no effect with keys"
    )
    cors_origins: Annotated[Several, AfterValidator(_check_origins)] = Field(
        default=(), description="origins whose pages may ask from a browser, separated by commas; unset: none"
    )
    root_path: Annotated[str, AfterValidator(_check_prefix)] = Field(
        default="", description="prefix of all paths, where a proxy serves Flipset below one"
    )
    trusted_proxies: Annotated[Several, AfterValidator(_check_proxies)] = Field(
        default=(), description="addresses or networks whose X-Forwarded-For is believed, separated by commas"
    )
    max_body_bytes: int = Field(default=1_048_576, ge=1, description="longest body of a request; a longer one gets 413")
    max_features: int = Field(
        default=1_000, ge=1, description="most features of a model, and entries in any object of a request"
    )
    max_instances: int = Field(default=10_000, ge=1, description="most instances of a request for predictions")
    default_deadline_ms: int = Field(default=10_000, ge=1, description="deadline of a request that names none")
    max_deadline_ms: int = Field(default=60_000, ge=1, description="longest deadline; a longer one is lowered")
    default_model_rows: int = Field(default=2_000_000, ge=1, description="model rows of a request that names no limit")
    max_model_rows: int = Field(default=20_000_000, ge=1, description="most model rows; a higher limit is lowered")
    max_counterfactuals: int | None = Field(default=None, ge=1, description="most answers to a request; unset: all")
    max_formulas: int = Field(default=50, ge=0, description="most formulas of a request")
    max_formula_length: int = Field(default=10_000, ge=1, description="most characters of a formula")
    max_formula_depth: int = Field(default=20, ge=1, le=25, description="deepest nesting of a formula")
    max_formula_literals: int = Field(
        default=2_000, ge=1, description="most features named in all formulas of a request"
    )
    max_items: int = Field(default=1_000, ge=0, description="most names in the constraints of a request")
    max_searches: int = Field(
        default=100, ge=1, description="answers under way at once in each process; one more is refused with 503"
    )
    search_threads: int = Field(default=os.cpu_count() or 1, ge=1, description="searches that work at the same moment")
    workers: int = Field(default=1, ge=1, description="processes that serve the same port, each with all models")
    grace_seconds: int = Field(
        default=10, ge=0, description="time for answers under way to send their last lines at a stop"
    )
    log_format: Literal["json", "text"] | None = Field(
        default=None, description="`json` or `text`; unset: text in a terminal, JSON elsewhere"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="`debug`, `info`, `warning` or `error`; requests are logged at `info`"
    )
    log_clients: bool = Field(
        default=False, description="log the address of each client, which is personal data in many places"
    )
