"""Whether answers hold: under errors of measurement, for other models, and when further features come into range."""
