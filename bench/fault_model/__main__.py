"""Serve the fault model alone, until it is terminated: `python -m bench.fault_model`. It prints its address."""

import argparse
import asyncio
import signal
import sys

from aiohttp import web

from bench.fault_model.answers import Answers, Rates
from bench.fault_model.server import FaultServer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--first", type=float, default=Rates.first, help="share of faulty first answers")
    parser.add_argument("--again", type=float, default=Rates.again, help="share of faulty second answers")
    parser.add_argument("--wire", type=float, default=Rates.wire, help="factor on the faults of the wire")
    parser.add_argument("--hang-s", type=float, default=6.0)
    asked = parser.parse_args()
    rates = Rates(asked.first, asked.again, asked.wire)
    asyncio.run(_serve(FaultServer(Answers(asked.seed, rates), asked.hang_s), asked.port))
    return 0


async def _serve(server: FaultServer, port: int) -> None:
    stop = asyncio.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(one, stop.set)
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await stop.wait()
    await runner.cleanup()


if __name__ == "__main__":
    sys.exit(main())
