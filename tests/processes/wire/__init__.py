"""One connection on the wire, without a network."""
