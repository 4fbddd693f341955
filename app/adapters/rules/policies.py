"""Policies: what a request may not choose. A model has one, and a key may have a narrower one."""

from typing import Literal

from pydantic import Field

from app.adapters.files.toml_files import Entry, Finite

Choice = Literal["free", "fixed"]


class PolicyEntry(Entry):
    """A `[policy]`. A request may choose whatever it does not name."""

    # Those that a request may name. The model's own registry must be among them.
    registries: list[str] | None = Field(default=None, min_length=1)
    # Whether a request may send "registry": null; by default only if it may name all registries.
    without_registry: bool | None = None
    target: Choice = "free"
    # For the model's own classes, which are then fixed.
    least_threshold: Finite | None = None
    normal_ranges: Choice = "free"
    guide: Choice = "free"

    def allows(self, registry: str | None) -> bool:
        """Whether ranges may come from this registry, or from none."""
        if registry is None:
            return self.registries is None if self.without_registry is None else self.without_registry
        return self.registries is None or registry in self.registries
