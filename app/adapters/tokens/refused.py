"""What a token is refused for. It stands alone: the packages that check tokens need not be there."""


class TokenRefused(Exception):
    """Why a token does not hold, in words for its client; nothing of what it says."""
