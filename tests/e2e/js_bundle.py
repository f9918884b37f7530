"""The published JS SDK, as its users get it: installed by npm, bundled by esbuild, on a page.

What is installed is pinned by js_sdk/package-lock.json, its hashes included, and kept in build/.
"""

import contextlib
import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.serving import ROOT

SOURCES = Path(__file__).with_name("js_sdk")
INSTALL_S = 90.0
BUNDLE_S = 30.0
_UNREACHABLE = (
    "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EHOSTUNREACH",
    "ENETUNREACH", "ERR_SOCKET_TIMEOUT",
)  # fmt: skip


@functools.cache
def modules() -> Path:
    """Return a folder with ``node_modules``; skips the test where npm or its registry is absent."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed; it fetches the published JS SDK")
    lock = (SOURCES / "package-lock.json").read_bytes()
    folder = ROOT / "build" / f"js_sdk-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            fresh = Path(name, "js_sdk")
            fresh.mkdir()
            for part in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(SOURCES / part, fresh)
            _install(npm, fresh)
            with contextlib.suppress(FileExistsError, OSError):  # somebody else was faster
                fresh.rename(folder)
    assert (folder / "node_modules" / "@reactor-team" / "js-sdk").is_dir()
    return folder


def _install(npm: str, folder: Path) -> None:
    command = [npm, "ci", "--no-progress"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_S)
    if done.returncode and any(word in done.stderr for word in _UNREACHABLE):
        pytest.skip(f"npm cannot reach its registry: {done.stderr.strip().splitlines()[0]}")
    assert done.returncode == 0, done.stderr


def bundle(source: str, into: Path, *, suffix: str = "js") -> None:
    """Write *source*, with everything it imports, to ``bundle.js`` in a folder."""
    folder = modules()
    done = subprocess.run(
        [
            *(folder / "node_modules" / ".bin" / "esbuild", "--bundle", "--format=esm"),
            *(f"--loader={suffix}", "--jsx=automatic", f"--outfile={into / 'bundle.js'}"),
            *('--define:process.env.NODE_ENV="production"', "--log-level=warning"),
        ],
        input=source,
        cwd=folder,
        env={**os.environ, "NODE_PATH": str(folder / "node_modules")},
        capture_output=True,
        text=True,
        timeout=BUNDLE_S,
    )
    assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def page_of(source: str, body: str, *, suffix: str = "js") -> Iterator[str]:
    """Serve a page that runs *source*, from an origin of its own; yields the page's address."""
    with tempfile.TemporaryDirectory() as name:
        bundle(source, Path(name), suffix=suffix)
        head = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'
        script = '<script type="module" src="bundle.js"></script>'
        Path(name, "index.html").write_text(f"{head}{body}{script}")
        with site_of(Path(name)) as address:
            yield address


@contextlib.contextmanager
def site_of(folder: Path) -> Iterator[str]:
    """Serve a folder from an origin of its own; yields its address."""
    handler = functools.partial(_Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join(10)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass
