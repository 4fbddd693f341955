"""HTTP: schemas, dependencies, routes, and the one table from errors to answers."""
