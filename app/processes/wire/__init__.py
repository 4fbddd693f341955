"""One connection on the wire: where a request ends, how long a client may take, and how many there may be."""
