"""Whole registers of people: read from files, answered by the same engines in other processes, written in order."""
