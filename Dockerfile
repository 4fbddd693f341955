# docker build -t flipset .                                     the service
# docker build --target sbom --output type=local,dest=. .       sbom.json: what is inside it
#
# The base is pinned by its digest where the image is built for service, so that the same commit gives the same image:
#   docker buildx imagetools inspect python:3.13-slim           prints the digest of today
#   docker build --build-arg BASE=python:3.13-slim@sha256:... -t flipset .
# Refresh the digest at every build for service, and at least once a month: the tag moves when Debian mends something.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
# The environment itself holds no pip: nothing is installed where the service runs.
RUN python -m venv --without-pip /opt/flipset
# With pyarrow, so that `flipset cohort` runs in the image too, httpx, for models that live elsewhere, psycopg, for
# records in PostgreSQL, and what checks tokens and signs receipts. Only files with these digests: make hashes.
COPY requirements/hashes/image.txt /build/requirements/
RUN pip --python /opt/flipset/bin/python install --no-cache-dir --disable-pip-version-check --root-user-action ignore \
    --require-hashes --requirement /build/requirements/image.txt
COPY pyproject.toml README.md LICENSE /build/
COPY app /build/app
RUN pip --python /opt/flipset/bin/python install --no-cache-dir --disable-pip-version-check --root-user-action ignore \
    --no-deps /build

FROM build AS listing
COPY requirements/sbom.txt /build/requirements/
RUN python -m venv /opt/sbom \
    && /opt/sbom/bin/pip install --no-cache-dir --disable-pip-version-check --requirement /build/requirements/sbom.txt \
    && /opt/sbom/bin/cyclonedx-py environment --pyproject /build/pyproject.toml --mc-type application \
    --output-reproducible --output-file /sbom.json /opt/flipset/bin/python

FROM scratch AS sbom
COPY --from=listing /sbom.json /

FROM ${BASE} AS service
LABEL org.opencontainers.image.title="Flipset" \
    org.opencontainers.image.description="Every minimal set of changes that turns a model's decision, over HTTP" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/flipset /opt/flipset
WORKDIR /srv/flipset
COPY models models
COPY normal_ranges normal_ranges
COPY locales locales
# Who may ask is for whoever runs it to say: without keys the service does not start on an address that others reach.
ENV PATH=/opt/flipset/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    ORT_DISABLE_TELEMETRY=1 \
    FLIPSET_HOST=0.0.0.0
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f\"http://127.0.0.1:{os.environ.get('FLIPSET_PORT', '8000')}/readyz\", timeout=2)"]
# A command runs as it is; the arguments that KServe gives to an explainer (--model_name and so on) are settings.
ENTRYPOINT ["flipset-image"]
CMD ["flipset", "serve"]
