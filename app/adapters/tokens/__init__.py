"""Clients that prove who they are by a token that they sign: whom to trust, and whether a token holds."""
