from pathlib import Path

import httpx
from starlette.applications import Starlette

from reactor_runtime.http.page_routes import PAGE_FOLDER, PageRoutes, read_page


def client(folder: Path) -> httpx.AsyncClient:
    app = Starlette(routes=PageRoutes(read_page(folder)).routes())
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


async def test_the_page_and_its_files_are_served(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>hello")
    (tmp_path / "app.js").write_text("1")
    async with client(tmp_path) as http:
        page = await http.get("/")
        script = await http.get("/page/app.js")
    assert page.text == "<p>hello"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"


async def test_only_files_of_the_page_can_be_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("x")
    (folder / ".hidden").write_text("x")
    (tmp_path / "secret.txt").write_text("x")
    async with client(folder) as http:
        for path in ("/page/../secret.txt", "/page/%2e%2e%2fsecret.txt", "/page/.hidden",
                     "/page/", "/page/a/b", "/page/%00"):  # fmt: skip
            assert (await http.get(path)).status_code == 404, path


async def test_a_page_is_sent_again_only_when_it_changed(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("x")
    async with client(tmp_path) as http:
        etag = (await http.get("/")).headers["etag"]
        again = await http.get("/", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


async def test_the_page_loads_nothing_from_elsewhere_and_tells_no_address(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("x")
    async with client(tmp_path) as http:
        headers = (await http.get("/")).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http:" not in policy
    assert "https:" not in policy
    assert "frame-ancestors 'self'" in policy
    assert headers["referrer-policy"] == "no-referrer"


def test_the_built_in_page_is_in_the_package() -> None:
    assert PAGE_FOLDER.is_dir()
