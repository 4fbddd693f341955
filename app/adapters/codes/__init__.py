"""Code systems of the clinic: LOINC for what was measured, UCUM for its unit."""
