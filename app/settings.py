"""Every setting. `main` and the command line read them once, from the environment."""

import json
import os
import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.adapters.files.snapshots import LOCALES
from app.adapters.predictors.entry import checked_url
from app.adapters.records.opening import check_address, check_postgres
from app.paths import FIRST_PARTS


def _listed(value: Any) -> Any:
    """Several values: separated by commas, or a list in JSON."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError("is neither a JSON list nor values separated by commas") from None


def _check_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for number, origin in enumerate(origins, start=1):
        if origin != "*" and not re.fullmatch(r"https?://[^/\s]+", origin):
            raise ValueError(
                f"number {number} is not an origin; write https://name or https://name:port, without a path"
            )
    return origins


def _check_public_url(address: str) -> str:
    if not re.fullmatch(r"https?://[^\s?#]+", address):
        raise ValueError("must be an address such as https://flipset.example.org/, without ? and #")
    return address


def _check_proxies(proxies: tuple[str, ...]) -> tuple[str, ...]:
    for number, proxy in enumerate(proxies, start=1):
        if proxy != "*":
            try:
                ip_network(proxy)
            except ValueError:
                raise ValueError(f"number {number} is neither an address nor a network such as 10.0.0.0/8") from None
    return proxies


def _check_prefix(prefix: str) -> str:
    if prefix and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", prefix):
        raise ValueError("must look like /flipset: a slash before each part, none at the end")
    first = "/".join(prefix.split("/")[:2])
    # Nobody could tell whether it has been taken off a path.
    if first in FIRST_PARTS:
        raise ValueError(
            f"must not begin with {first}, which is one of Flipset's own paths; choose another, such as /flipset"
        )
    return prefix


def _path(value: Any) -> Any:
    """Refuse an empty text, which would mean the current folder."""
    if value == "":
        raise ValueError("is empty; set it to a path, or unset it")
    return value


APath = Annotated[Path, BeforeValidator(_path)]
Several = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]


class Settings(BaseSettings):
    """Each field is the environment variable FLIPSET_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FLIPSET_", frozen=True)

    models_dir: APath = Field(default=Path("models"), description="folder with the models, one folder each")
    normal_ranges_dir: APath = Field(
        default=Path("normal_ranges"), description="folder with the registries, one TOML file each"
    )
    locales_dir: APath = Field(
        default=LOCALES, description="folder with translations, one TOML file for each language; there need not be one"
    )
    model_load_seconds: int = Field(default=30, ge=1, description="time limit for loading and trying a model")
    model_memory_mb: int = Field(default=2048, ge=64, description="memory limit for loading and trying a model")
    model_file_mb: int = Field(default=256, ge=1, description="largest allowed model.onnx")
    predictor_url: Annotated[str, AfterValidator(checked_url)] | None = Field(
        default=None, description="where models live whose [predictor] has no url"
    )
    host: str = Field(default="127.0.0.1", description="address to listen on")
    port: int = Field(default=8000, ge=0, le=65535, description="port to listen on; 0 picks a free one")
    keys_file: APath | None = Field(default=None, description="the key file; unset: no keys are needed")
    rates: Annotated[str, AfterValidator(check_postgres)] | None = Field(
        default=None,
        description="where several servers count the rates of keys together: `postgresql://...`; unset: nowhere",
    )
    rates_lost: Literal["count_here", "refuse"] = Field(
        default="count_here",
        description="while that database is away: `count_here` (each server on its own) or `refuse` (503)",
    )
    cds_clients_file: APath | None = Field(
        default=None,
        description="the clients of CDS Hooks that may call, with their public keys; unset: keys hold there too",
    )
    public_url: Annotated[str, AfterValidator(_check_public_url)] | None = Field(
        default=None, description="where people find the page, https://name/path; cards of CDS Hooks link to it"
    )
    allow_anonymous: bool = Field(
        default=False, description="allow serving without keys on an address that others can reach; no effect with keys"
    )
    cors_origins: Annotated[Several, AfterValidator(_check_origins)] = Field(
        default=(), description="origins whose pages may call the API (CORS), separated by commas; unset: none"
    )
    root_path: Annotated[str, AfterValidator(_check_prefix)] = Field(
        default="", description="prefix of all paths, if a proxy serves Flipset below one"
    )
    trusted_proxies: Annotated[Several, AfterValidator(_check_proxies)] = Field(
        default=(), description="addresses or networks whose X-Forwarded-For Flipset trusts, separated by commas"
    )
    max_body_bytes: int = Field(default=2_097_152, ge=1, description="longest body of a request; a longer one gets 413")
    max_features: int = Field(
        default=1_000, ge=1, description="most features of a model, and most entries in any object of a request"
    )
    max_instances: int = Field(default=10_000, ge=1, description="most instances of a request for predictions")
    default_deadline_ms: int = Field(default=10_000, ge=1, description="deadline of a request that sets none")
    max_deadline_ms: int = Field(default=60_000, ge=1, description="longest deadline; a longer one is lowered to this")
    default_model_rows: int = Field(default=100_000_000, ge=1, description="model rows of a request that sets no limit")
    max_model_rows: int = Field(
        default=1_000_000_000, ge=1, description="most model rows; a higher limit is lowered to this"
    )
    max_counterfactuals: int | None = Field(default=None, ge=1, description="most answers to a request; unset: all")
    stability_plans: int = Field(
        default=20,
        ge=0,
        description="of how many plans an answer tells whether they hold under the noise of the registry; 0: of none",
    )
    max_formulas: int = Field(default=50, ge=0, description="most formulas of a request")
    max_formula_length: int = Field(default=10_000, ge=1, description="most characters of a formula")
    max_formula_depth: int = Field(default=20, ge=1, le=25, description="deepest nesting of a formula")
    max_formula_literals: int = Field(
        default=2_000, ge=1, description="most features named in all formulas of a request"
    )
    max_items: int = Field(default=1_000, ge=0, description="most names in the constraints of a request")
    max_searches: int = Field(
        default=100, ge=1, description="most answers in progress in each process; one more gets 503"
    )
    max_searches_per_client: int | None = Field(
        default=None,
        ge=1,
        description="most requests in progress for one key or address, bodies still arriving included; unset: half",
    )
    search_memory_mb: int = Field(
        default=128,
        ge=1,
        description="memory limit of one search; beyond it lattice ends and auto continues with the solver",
    )
    total_search_memory_mb: int = Field(
        default=512, ge=1, description="memory limit of all searches of a process; a search that finds no room waits"
    )
    search_threads: int = Field(default=os.cpu_count() or 1, ge=1, description="threads that search")
    workers: int = Field(default=1, ge=1, description="processes that serve the same port, each with all models")
    max_connections: int = Field(
        default=1_000, ge=1, description="most open connections in each process; one more gets 503"
    )
    max_connections_per_address: int | None = Field(
        default=None,
        ge=1,
        description="most open connections from one address, except trusted proxies; unset: half of all",
    )
    write_seconds: int = Field(
        default=30, ge=1, description="how long a client may stop reading its answer before the connection ends"
    )
    grace_seconds: int = Field(
        default=10, ge=0, description="time for answers in progress to send their last line at a stop"
    )
    records: Annotated[str, AfterValidator(check_address)] | None = Field(
        default=None,
        description="where records of answers are kept: `sqlite:///records.db` or `postgresql://...`; unset: nowhere",
    )
    record_all: bool = Field(
        default=False, description="record every answer; otherwise those that ask for it with `record`"
    )
    records_required: bool = Field(
        default=False, description="refuse with 503 what cannot be recorded; otherwise answer, and say so"
    )
    record_plans: int = Field(default=20, ge=0, description="how many plans of an answer a record holds as they are")
    records_days: int | None = Field(
        default=None, ge=1, description="days after which a record is deleted; unset: records stay"
    )
    records_queue_mb: int = Field(
        default=64, ge=1, description="memory for records that wait to be written, in each process"
    )
    records_events: Annotated[str, AfterValidator(checked_url)] | None = Field(
        default=None, description="address to which a CloudEvent of every record is sent; unset: nowhere"
    )
    records_events_key: APath | None = Field(
        default=None, description="file with a key that is sent with these events, as a bearer token"
    )
    receipt_keys: APath | None = Field(
        default=None, description="folder with the keys that sign receipts of records; unset: there are no receipts"
    )
    archive: APath | None = Field(
        default=None, description="folder to which served files are copied, so that old records can be replayed"
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
