"""Rules as they are written: registries of ranges, constraints, formulas and policies."""
