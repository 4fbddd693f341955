"""The processes of a server: a parent that supervises workers, and the wire that they listen on."""
