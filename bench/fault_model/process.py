"""The fault model in a process of its own, so that the client's CPU is the client's alone."""

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.request import Request, urlopen

import msgspec

from bench.fault_model.answers import Rates
from bench.fault_model.record import Outside, Report

_ROOT: Final = Path(__file__).parents[2]
_WAIT_S: Final = 60


class FaultModel:
    """The fault model, served while the context lasts. `base_url` is what an OpenAI client takes as such."""

    def __init__(self, seed: int, rates: Rates, hang_s: float) -> None:
        """Take what the server is started with (see `Rates`, `FaultServer`)."""
        self._arguments = [
            *("--seed", str(seed), "--first", str(rates.first), "--again", str(rates.again)),
            *("--wire", str(rates.wire), "--hang-s", str(hang_s)),
        ]
        self._address = ""

    @property
    def base_url(self) -> str:
        """The address, with the protocol's `/v1`."""
        return f"{self._address}/v1"

    def tell(self, outside: dict[str, Outside]) -> None:
        """Tell the server, before the run, what the transcripts do not show, by slice."""
        with urlopen(Request(f"{self._address}/outside", msgspec.json.encode(outside)), timeout=_WAIT_S):
            pass

    def report(self) -> Report:
        """Return what the server planted so far."""
        with urlopen(f"{self._address}/planted", timeout=_WAIT_S) as answer:
            return msgspec.json.decode(answer.read(), type=Report)

    def __enter__(self) -> Self:
        """Start it.

        Raises:
            RuntimeError: it does not come up; its own words stand on stderr.
        """
        command = [sys.executable, "-m", "bench.fault_model", *self._arguments]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._address = self._process.stdout.readline().strip()
        if not self._address:
            msg = f"the fault model ended with code {self._process.wait()} before it served; see stderr"
            raise RuntimeError(msg)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
