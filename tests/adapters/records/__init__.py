"""The stores of records."""
