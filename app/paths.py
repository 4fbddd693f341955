"""The paths of the service, and which of them are open to anyone where keys are on."""

# What says nothing of the models: health, the documentation, and the page with its files.
OPEN = frozenset(("/", "/livez", "/docs", "/openapi.json"))
OPEN_FOLDERS = ("/docs/files/", "/web/")
# Open only as long as it is asked for nothing more.
OPEN_WITHOUT_QUERY = "/readyz"
WITH_A_KEY = ("/v1/", "/metrics")
# The first parts of all of them, but for the page's.
FIRST_PARTS = frozenset(
    f"/{path.split('/')[1]}" for path in (*OPEN, *OPEN_FOLDERS, OPEN_WITHOUT_QUERY, *WITH_A_KEY)
) - {"/"}
