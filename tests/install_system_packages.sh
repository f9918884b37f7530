#!/bin/sh
# Installs what the tests need beside Python: a browser, npm for the published JS SDK, the tools that
# make network namespaces, a TURN server, ffprobe, which looks at recordings, and GStreamer, which
# plays and publishes without an SDK.
set -eu
missing=""
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
command -v ip >/dev/null 2>&1 || missing="$missing iproute2"
command -v turnserver >/dev/null 2>&1 || missing="$missing coturn"
command -v ffprobe >/dev/null 2>&1 || missing="$missing ffmpeg"
command -v node >/dev/null 2>&1 || missing="$missing nodejs"
command -v npm >/dev/null 2>&1 || missing="$missing npm"
gstreamer="import gi; gi.require_version('GstWebRTC', '1.0'); from gi.repository import Gst as g
g.init(None); assert all(map(g.ElementFactory.find, ('webrtcbin', 'nicesrc', 'vp8dec', 'opusdec')))"
/usr/bin/python3 -W ignore -c "$gstreamer" >/dev/null 2>&1 ||
  missing="$missing python3-gst-1.0 gir1.2-gst-plugins-bad-1.0 gstreamer1.0-plugins-bad
gstreamer1.0-plugins-good gstreamer1.0-nice"
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
