# Serves an example on the CPU: docker build -t reactor-runtime . && docker compose up
# With torch, as models on GPUs want it: docker build -t reactor-runtime --build-arg EXTRAS=[torch] .
FROM python:3.12-slim

WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY docs docs
COPY src src
ARG EXTRAS=""
RUN pip install --no-cache-dir ".${EXTRAS}"
COPY examples examples

# One UDP port per viewer. Nothing lies in /dev/shm, so its 64 MB are enough.
ENV REACTOR_HOST=0.0.0.0 REACTOR_PORT=8080 REACTOR_PORT_RANGE=50000-50063 HOME=/tmp
EXPOSE 8080/tcp 50000-50063/udp
USER 1000
HEALTHCHECK --interval=10s --start-period=10s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/health/live')"]
CMD ["reactor", "serve", "examples/worldlet"]
