"""Whole registers of people at once: read, solved by the same engines in other processes, written in order."""
