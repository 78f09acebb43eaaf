# syntax=docker/dockerfile:1
ARG PYTHON=3.12-slim

FROM python:${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/strandline
COPY requirements.lock /src/
RUN /opt/strandline/bin/python -m pip install --only-binary :all: --require-hashes -r /src/requirements.lock
COPY . /src/
# What builds has no place in an image that runs: pip goes last, for it removes the others.
RUN /opt/strandline/bin/python -m pip install --no-deps --no-build-isolation /src \
    && /opt/strandline/bin/python -m compileall -q /opt/strandline/lib \
    && /opt/strandline/bin/python -m pip uninstall --yes --quiet setuptools pip

FROM python:${PYTHON}
# The base image's own pip is not needed either.
RUN python -m pip uninstall --yes --quiet --root-user-action ignore pip \
    && mkdir -p /var/lib/strandline \
    && chown 10001:10001 /var/lib/strandline
COPY --from=build /opt/strandline /opt/strandline
ENV PATH=/opt/strandline/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STRANDLINE_RUN__LOG_JSON=true \
    STRANDLINE_RUN__METRICS_HOST=0.0.0.0 \
    STRANDLINE_RUN__METRICS_PORT=9464 \
    STRANDLINE_RUN__RECOVERY_DIR=/var/lib/strandline/recovery
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
WORKDIR /var/lib/strandline
VOLUME /var/lib/strandline
EXPOSE 9464
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['STRANDLINE_RUN__METRICS_PORT']}/healthz\", timeout=4)"]
ENTRYPOINT ["strandline"]
CMD ["ingest", "--from", "kafka"]
