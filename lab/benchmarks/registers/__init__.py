"""Whole registers of made-up people, drawn from fits to the data that the shipped models were trained on."""
