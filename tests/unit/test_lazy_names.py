"""Names of a package that load when they are first used."""

import importlib
import sys
import types
from collections.abc import Iterator

import pytest

from reactor_runtime.lazy_names import lazy_names


@pytest.fixture
def package() -> Iterator[types.ModuleType]:
    package = types.ModuleType("lazy_package")
    sys.modules["lazy_package"] = package
    homes = {"sqrt": "math", "missing": "math"}
    vars(package)["__getattr__"], vars(package)["__dir__"] = lazy_names("lazy_package", homes)
    yield package
    del sys.modules["lazy_package"]


def test_a_name_is_loaded_once_and_kept(package: types.ModuleType) -> None:
    assert "sqrt" not in vars(package)
    assert importlib.import_module("math").sqrt is package.sqrt
    assert "sqrt" in vars(package)


def test_every_name_is_listed(package: types.ModuleType) -> None:
    assert {"sqrt", "missing", "__name__"} <= set(dir(package))


@pytest.mark.parametrize("name", ["missing", "unknown"])
def test_what_there_is_not_is_an_attribute_error(package: types.ModuleType, name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(package, name)
