"""What the README shows runs as it stands: the model, its manifest and its client."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.serving import own_address, serving
from tests.e2e.snippets import snippet

NO_SDK = importlib.util.find_spec("reactor_sdk") is None


@pytest.mark.sdk
@pytest.mark.skipif(NO_SDK, reason="the public client has no build for this Python")
@pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone")
async def test_the_model_of_the_readme_is_served_and_steered_by_its_client(tmp_path: Path) -> None:
    model = snippet("README.md", "python", "# flow.py")
    client = snippet("README.md", "python", "reactor_sdk")
    manifest = snippet("README.md", "yaml", "flow:Flow")
    (tmp_path / "flow.py").write_text(model)
    (tmp_path / "reactor.yaml").write_text(manifest)
    with serving(".", cwd=tmp_path) as served:
        assert "http://127.0.0.1:8080" in client
        steered, pictures = asyncio.Event(), list[Any]()
        loop = asyncio.get_running_loop()

        def show(picture: Any) -> None:
            pictures.append(picture)
            red, _, blue = picture.reshape(-1, 3).mean(axis=0)
            if red > 4 * blue:  # a hue of 0.9; it starts at 0.5
                loop.call_soon_threadsafe(steered.set)

        code = client.replace("http://127.0.0.1:8080", served.url)
        body = "".join(f"    {line}\n" for line in code.splitlines())
        names: dict[str, Any] = {"show": show, "steered": steered}
        exec(f"async def run():\n{body}        await steered.wait()\n", names)
        await asyncio.wait_for(names["run"](), 30)
        assert pictures[0].shape == (360, 640, 3)
        served.wait_for_state("ready")
        assert "error" not in served.log()
