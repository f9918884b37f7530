"""The browser page: ``GET /`` and the files beside it, read once and kept."""

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE_FOLDER = Path(__file__).parent / "page"
INDEX = "index.html"

# Nothing from elsewhere, nobody's frame around us, no address (which may hold a token) told on.
PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
    "Referrer-Policy": "no-referrer",
}
_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """One file of the page, ready to be sent."""

    content: bytes
    media_type: str
    etag: str


def read_page(folder: Path = PAGE_FOLDER) -> Mapping[str, PageFile]:
    """Return the page's files by name; only names that exist now can ever be asked for."""
    return {
        path.name: _read(path)
        for path in sorted(folder.glob("*"))
        if path.is_file() and not path.name.startswith((".", "__"))
    }


class PageRoutes:
    """Serves the page; it holds no secret, what it asks for does."""

    def __init__(self, files: Mapping[str, PageFile] | None = None) -> None:
        self._files = files

    def routes(self) -> list[Route]:
        """Return what to mount."""
        return [
            Route("/", self.index, methods=["GET"]),
            Route("/page/{name}", self.file, methods=["GET"]),
        ]

    async def index(self, request: Request) -> Response:
        """Serve the page itself."""
        return self._serve(INDEX, request)

    async def file(self, request: Request) -> Response:
        """Serve a file of the page."""
        return self._serve(request.path_params["name"], request)

    def locked(self) -> Response:
        """Return the page for whoever has not shown the token yet: 401, and it asks for it."""
        index = self._read()[INDEX]
        headers = {**PAGE_HEADERS, "Cache-Control": "no-store", "WWW-Authenticate": "Bearer"}
        return Response(index.content, 401, headers, index.media_type)

    def _read(self) -> Mapping[str, PageFile]:
        if self._files is None:
            self._files = read_page()
        return self._files

    def _serve(self, name: str, request: Request) -> Response:
        found = self._read().get(name)
        if found is None:
            raise HTTPException(404)
        headers = {**PAGE_HEADERS, "ETag": found.etag}
        if request.headers.get("if-none-match") == found.etag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, 200, headers, found.media_type)


def _read(path: Path) -> PageFile:
    content = path.read_bytes()
    guessed = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return PageFile(
        content=content,
        media_type=guessed or "application/octet-stream",
        etag=f'"{hashlib.sha256(content).hexdigest()[:32]}"',
    )
