"""Faults become one sentence and an exit code; what a user said never shows in them."""

import errno
import importlib
import logging
import os
from collections.abc import Iterator

import pytest

from cli.failures import CHECKS, MENDABLE, CommandError, report
from memory.errors import EraseIncomplete, StoreNotSetError, StoreUnavailable
from schemas.setting_faults import SettingsError


@pytest.fixture
def debug() -> Iterator[None]:
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    yield
    root.setLevel(before)


@pytest.mark.parametrize("name", MENDABLE)
def test_every_mendable_error_is_an_exception_that_exists(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert issubclass(getattr(importlib.import_module(module), attribute), Exception)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandError("no"), 1),
        (CommandError("no", 2), 2),
        (SettingsError(["no"]), 2),
        (StoreNotSetError("no"), 2),
        (StoreUnavailable("no"), 1),
        (EraseIncomplete("no"), 1),
    ],
)
def test_report_known_error_is_one_sentence(error: Exception, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(error) == code
    assert capsys.readouterr() == ("", "Error: no\n")


def test_report_settings_error_has_a_line_for_each_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(SettingsError(["one is wrong", "two is wrong"])) == 2
    assert capsys.readouterr().err == "Error: one is wrong\nError: two is wrong\n"


def test_report_unknown_error_tells_its_type_and_place_but_not_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        {}["what the user said"]
    except KeyError as error:
        assert report(error) == 1
    told = capsys.readouterr().err
    assert "KeyError" in told
    assert "test_failures.py" in told
    assert "--debug" in told
    assert "what the user said" not in told
    assert "Traceback" not in told


@pytest.mark.usefixtures("debug")
def test_report_at_level_debug_shows_the_traceback_too(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        msg = "no"
        raise CommandError(msg)
    except CommandError as error:
        report(error)
    told = capsys.readouterr().err
    assert told.startswith("Traceback")
    assert told.endswith("Error: no\n")


@pytest.mark.parametrize("code", [*CHECKS, errno.EAGAIN])
@pytest.mark.parametrize("path", ["/data/x", None])
def test_report_error_of_the_system_is_one_sentence_with_path_reason_and_remedy(
    code: int, path: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    error = OSError(code, os.strerror(code), path) if path else OSError(code, os.strerror(code))
    assert report(error) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert os.strerror(code) in err
    assert (path or "The system refused") in err
    assert "does not know" not in err


def test_report_error_of_the_system_with_a_name_that_is_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(PermissionError(errno.EACCES, "Permission denied", b"/data/\xff")) == 1
    assert "/data/" in capsys.readouterr().err


@pytest.mark.usefixtures("debug")
def test_report_masks_passwords_in_the_sentence_and_in_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    password = "hunter" + "2"  # in two, for a traceback shows this line
    try:
        raise CommandError("GET http://me:" + password + "@store")
    except CommandError as error:
        assert report(error) == 1
    told = capsys.readouterr().err
    assert told.count("http://me:**********@store") == 2
    assert "hunter2" not in told
