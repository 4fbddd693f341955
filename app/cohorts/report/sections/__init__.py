"""The sections of the page, each made of the figures alone."""
