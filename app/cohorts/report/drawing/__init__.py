"""Figures as inline SVG. All are as wide as a phone, with each label above what it names, and grow with the page."""
