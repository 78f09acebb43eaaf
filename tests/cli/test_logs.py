"""Logs go to stderr, in one of two forms, and libraries are heard only when it matters."""

import json
import logging

import pytest
import structlog

from cli import logs
from schemas.settings import RunSettings


def test_logs_go_to_stderr_and_libraries_are_quiet_below_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(RunSettings())
    structlog.get_logger("memory.store").info("store opened", scopes=3)
    structlog.get_logger("memory.store").debug("not at this level")
    logging.getLogger("httpx").info("POST http://models/v1 with what a user said")
    logging.getLogger("httpx").warning("slow")
    out, err = capsys.readouterr()
    assert out == ""
    assert "store opened" in err
    assert "scopes=3" in err
    assert "slow" in err
    assert "not at this level" not in err
    assert "what a user said" not in err


def test_logs_as_json_are_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(RunSettings(log_json=True, log_level="warning"))
    structlog.get_logger("flows.run").info("quiet")
    structlog.get_logger("flows.run").warning("stopping", signal="SIGTERM")
    logging.getLogger("operators.kafka_client").warning("no broker at %s", "here")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("stopping", "warning"),
        ("no broker at here", "warning"),
    ]
    assert lines[0]["signal"] == "SIGTERM"
    assert all(line["timestamp"].endswith("Z") for line in lines)


@pytest.mark.parametrize("log_json", [True, False])
def test_traceback_in_a_log_shows_no_values_of_variables(capsys: pytest.CaptureFixture[str], log_json: bool) -> None:
    logs.configure(RunSettings(log_json=log_json))
    said = "what the user said".upper()
    try:
        len(said) / 0  # noqa: B018
    except ZeroDivisionError:
        structlog.get_logger("flows.run").exception("failed")
    err = capsys.readouterr().err
    assert "ZeroDivisionError" in err
    assert said not in err


def test_logs_at_level_debug_let_libraries_speak(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(RunSettings(log_level="debug"))
    logging.getLogger("httpx").info("a call")
    assert "a call" in capsys.readouterr().err


@pytest.mark.parametrize("log_json", [True, False])
def test_password_in_a_url_is_masked_in_logs(capsys: pytest.CaptureFixture[str], log_json: bool) -> None:
    logs.configure(RunSettings(log_level="debug", log_json=log_json))
    url = "http://me:hunter2@127.0.0.1:9"
    logging.getLogger("httpx").info("HTTP Request: GET %s", url)
    try:
        raise ValueError(url)
    except ValueError:
        structlog.get_logger("memory.client").exception("failed", url=url)
    err = capsys.readouterr().err
    assert err.count("me:**********@127.0.0.1:9") >= 3
    assert "hunter2" not in err
