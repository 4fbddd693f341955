"""CDS Hooks 2.0: the door of a clinic's own software."""
