"""Copies what is served to the archive, if there is one."""

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.snapshots import Snapshot
from app.adapters.records.archive import Archive
from app.settings import Settings


def archive(snapshot: Snapshot, settings: Settings) -> None:
    """`BrokenFiles` if the files cannot be copied: an answer that nobody can replay must not be given."""
    if settings.archive is None:
        return
    try:
        Archive(settings.archive).keep(snapshot)
    except OSError as error:
        reason = f"cannot be written: {error.strerror or 'unknown reason'}"
        raise BrokenFiles([Flaw(settings.archive, "", reason)]) from None
