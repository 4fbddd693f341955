"""What /openapi.json says of the answers. These classes describe what is sent; `app/writing` makes it."""
