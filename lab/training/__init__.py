"""The scripts that made the models in `models/`; the service itself never imports them."""
