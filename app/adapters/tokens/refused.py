"""What a token is refused for. It stands alone: the packages that check tokens need not be there."""


class TokensLost(Exception):
    """Nobody can tell whether a token was used before: where that is noted cannot be written to."""


class TokenRefused(Exception):
    """Why a token does not hold, in words for its client; nothing of what it says."""
