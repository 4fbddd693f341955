"""What searches cost: real patients, and lattices of every size."""
