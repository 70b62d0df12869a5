# The image of tokencountd: built from source, run without root or a writable root.
#
#   docker build -t tokencountd .
#   docker run --read-only -p 127.0.0.1:50051:50051 -e TOKENCOUNTD_ALLOW_ANONYMOUS=true \
#     -v tokencount:/var/lib/tokencount tokencountd
#
# Where others can reach the port, give it tokens or a client CA instead: see `tokencountd serve --help`.
#
# The base images are arguments, so that a build can pin digests or use a mirror.
ARG BUILD_IMAGE=python:3.11-bookworm
ARG RUST_IMAGE=rust:1.95-bookworm
ARG RUNTIME_IMAGE=python:3.11-slim-bookworm

FROM ${RUST_IMAGE} AS rust

FROM ${BUILD_IMAGE} AS build
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV PATH=/usr/local/cargo/bin:$PATH CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /build && /build/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
RUN PATH=/build/bin:$PATH pip wheel --no-cache-dir --no-build-isolation --no-deps -w /wheels . clients/python
# Of the locked packages only those that the wheels ask for. Constraints can't have the lock's hashes;
# the packages were checked against them above.
RUN grep -oE '^[A-Za-z0-9._-]+==[^ ]+' requirements.lock > /constraints.txt \
 && python -m venv /app \
 && /app/bin/pip install --no-cache-dir --constraint /constraints.txt --find-links /wheels "tokencountd[telemetry]"

FROM ${RUNTIME_IMAGE}
LABEL org.opencontainers.image.title="tokencountd" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 65532 --home-dir /var/lib/tokencount tokencount \
 && install -d -o tokencount /var/lib/tokencount
COPY --from=build /app /app
COPY LICENSE NOTICE /app/
ENV PATH=/app/bin:$PATH PYTHONDONTWRITEBYTECODE=1 \
    TOKENCOUNTD_LISTEN=0.0.0.0:50051 TOKENCOUNTD_DATA_DIR=/var/lib/tokencount
USER 65532
VOLUME /var/lib/tokencount
EXPOSE 50051
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["tokencountd", "health"]
ENTRYPOINT ["tokencountd"]
CMD ["serve"]
