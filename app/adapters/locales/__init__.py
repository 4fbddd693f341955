"""Other languages: what Flipset says in them, and what the texts of models and registries are called."""
