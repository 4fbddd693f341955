"""The check of tokens, where the settings ask for one. Its packages are an optional group."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.machine.optional_groups import how_to_install

if TYPE_CHECKING:
    from app.adapters.tokens.checking import TokenCheck


def token_check(file: Path | None, folder: Path | None) -> "TokenCheck | None":
    """What checks the tokens of these clients; processes of one service share the folder."""
    if file is None:
        return None
    try:
        from app.adapters.tokens.checking import TokenCheck  # noqa: PLC0415  # the group need not be there
        from app.adapters.tokens.once import AcceptedTokens  # noqa: PLC0415  # the same
        from app.adapters.tokens.trusted import read_clients  # noqa: PLC0415  # the same
    except ImportError:
        reason = f"needs packages that are not there: {how_to_install('cds')}"
        raise BrokenFiles([Flaw(file, "", reason)]) from None
    shared = folder or Path(tempfile.mkdtemp(prefix="flipset-tokens-"))
    return TokenCheck(read_clients(file), AcceptedTokens(shared))
