"""The paths of the service, and which of them are open to anyone where keys are on."""

# What says nothing of the models: health, the documentation, the public keys of receipts, and the page with its files.
OPEN = frozenset(
    ("/", "/livez", "/docs", "/openapi.json", "/.well-known/flipset-keys", "/v2/health/live", "/v2/health/ready")
)
OPEN_FOLDERS = ("/docs/files/", "/web/")
# Open only as long as it is asked for nothing more.
OPEN_WITHOUT_QUERY = "/readyz"
# Needs a key only where the clients of CDS Hooks have no tokens of their own.
CDS_SERVICES = "/cds-services"
WITH_A_KEY = ("/v1/", "/v2/", "/metrics", CDS_SERVICES)
# The first parts of all of them, but for the page's.
FIRST_PARTS = frozenset(
    f"/{path.split('/')[1]}" for path in (*OPEN, *OPEN_FOLDERS, OPEN_WITHOUT_QUERY, *WITH_A_KEY)
) - {"/"}
