FROM python:3.13-slim AS build
RUN python -m venv /opt/flipset
COPY requirements.txt /build/
RUN /opt/flipset/bin/pip install --no-cache-dir --disable-pip-version-check -r /build/requirements.txt
COPY pyproject.toml README.md LICENSE /build/
COPY app /build/app
RUN /opt/flipset/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps /build

FROM python:3.13-slim
COPY --from=build /opt/flipset /opt/flipset
WORKDIR /srv/flipset
COPY models models
COPY normal_ranges normal_ranges
ENV PATH=/opt/flipset/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    FLIPSET_HOST=0.0.0.0
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["flipset", "serve"]
