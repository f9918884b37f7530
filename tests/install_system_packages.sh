#!/bin/sh
# Installs what the tests need beside Python: a browser, npm for the published JS SDK, the tools that
# make network namespaces, a TURN server, and ffprobe, which looks at recordings.
set -eu
missing=""
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
command -v ip >/dev/null 2>&1 || missing="$missing iproute2"
command -v turnserver >/dev/null 2>&1 || missing="$missing coturn"
command -v ffprobe >/dev/null 2>&1 || missing="$missing ffmpeg"
command -v node >/dev/null 2>&1 || missing="$missing nodejs"
command -v npm >/dev/null 2>&1 || missing="$missing npm"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "The tests need these programs, which only root can install here:$missing" >&2
  echo "Install them (on Debian: sudo apt-get install$missing), or run 'make test-fast' without them." >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 -- a list of package names
apt-get install -y -qq --no-install-recommends $missing >/dev/null
