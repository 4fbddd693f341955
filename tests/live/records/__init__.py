"""Records of a real server."""
