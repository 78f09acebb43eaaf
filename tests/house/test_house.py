"""The rules of the house: which package may import which; locks and declared dependencies agree with the code."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
MAY_IMPORT = {
    "schemas": set(),
    "extraction": {"schemas"},
    "memory": {"schemas"},
    "operators": {"schemas", "extraction", "memory"},
    "flows": {"schemas", "extraction", "memory", "operators"},
    "cli": {"schemas", "extraction", "memory", "operators", "flows"},
}
PULLED_IN_BY_EXTRA = {"pyyaml"}
"""Comes with pydantic-settings[yaml], which the project declares."""


def imports_of(package: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            else:
                continue
            for name in names:
                yield str(path.relative_to(ROOT)), name.split(".")[0]


def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins(lock: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9._-]+)==(\S+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(version)
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_run_one_way(package: str) -> None:
    ours = {(path, name) for path, name in imports_of(package) if name in MAY_IMPORT and name != package}
    assert {(path, name) for path, name in ours if name not in MAY_IMPORT[package]} == set()


def test_every_library_that_is_imported_is_declared() -> None:
    declared = {canonicalize_name(Requirement(one).name) for one in project()["dependencies"]} | PULLED_IN_BY_EXTRA
    distributions = packages_distributions()
    undeclared = {
        (path, name)
        for package in MAY_IMPORT
        for path, name in imports_of(package)
        if name not in MAY_IMPORT
        and name not in sys.stdlib_module_names
        and not declared & {canonicalize_name(one) for one in distributions.get(name, [])}
    }
    assert undeclared == set()


@pytest.mark.parametrize(
    ("lock", "extras"), [("requirements.lock", ["embedded"]), ("requirements-dev.lock", ["embedded", "dev"])]
)
def test_lock_pins_what_the_project_asks_for(lock: str, extras: list[str]) -> None:
    wanted = [*project()["dependencies"], *(one for e in extras for one in project()["optional-dependencies"][e])]
    locked = pins(lock)
    for requirement in map(Requirement, [*wanted, "setuptools>=77"]):
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert versions, f"{lock} lacks {requirement.name}: run `make lock`"
        assert all(version in requirement.specifier for version in versions), f"{requirement}: run `make lock`"


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_lock_has_a_hash_for_every_pin_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


def test_development_lock_has_the_same_versions_as_the_one_that_is_deployed() -> None:
    deployed, development = pins("requirements.lock"), pins("requirements-dev.lock")
    assert {name: development.get(name) for name in deployed} == deployed


HOLDS_A_URL = re.compile(r"(^|_)url$")
OWN_ADDRESS = {"extraction/offline/__main__.py"}
"""Prints the address that it listens on itself, in which no password can be."""


def urls_in_messages() -> Iterator[str]:
    """Yield where an f-string shows a variable or an attribute that is called a URL as it is."""
    for package in MAY_IMPORT:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.FormattedValue):
                    continue
                name = getattr(node.value, "attr", getattr(node.value, "id", ""))
                if HOLDS_A_URL.search(name):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_no_message_shows_a_url_with_its_password() -> None:
    shown = {where for where in urls_in_messages() if where.split(":")[0] not in OWN_ADDRESS}
    assert shown == set(), "put without_password() around it"
