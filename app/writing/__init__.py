"""An answer as bytes: lines, the forms that they come in, and their wording."""
