"""`strandline demo`: everything embedded, on sample sessions. Shows what it learned, and ends."""

import tempfile
import time
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from cli.ingest import Finished, print_summary, run_job
from cli.options import DebugOption, JsonOption, settings_from
from cli.output import note, print_json, print_line, print_text
from schemas.claim import Claim, ClaimStatus
from schemas.scope import Scope
from schemas.settings import KafkaSettings, Settings
from schemas.summary import IngestSummary

if TYPE_CHECKING:
    from memory.bank import Bank

SAMPLE = files("cli") / "demo_data" / "sessions.jsonl"
SHOWN = Scope("travel_app", "u-42")
QUESTION = "Find a vegan dinner near where the user lives, and confirm it the way the user wants to be contacted."
PARTITIONS = 4


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(demo)


def demo(
    *,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep the store here instead of removing it.")
    ] = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Run everything embedded on sample sessions: a broker, a model, the dataflow, a store."""
    from memory.store import Store  # noqa: PLC0415 - heavy imports, for this command alone
    from operators.embedded_broker import EmbeddedBroker  # noqa: PLC0415

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="strandline-demo-")))
        broker = stack.enter_context(EmbeddedBroker())
        options = {
            "kafka.topic": f"strandline-demo-{time.time_ns()}",
            "model.base_url": "",
            "model.api_key": "",
            "embedding.base_url": "",
            "run.recovery_dir": str(folder / "recovery"),
        }
        settings = settings_from(
            None, debug=debug, store=str(keep or folder / "store"), bootstrap=broker.bootstrap, more=options
        ).settings
        finished = _ingest(settings, quiet=as_json)
        if finished is None:
            note("Stopped before the end.")
            return
        summary = finished.summary
        with Store.open(settings) as store:
            bank = store.bank(SHOWN)
            if as_json:
                _print_json(summary, bank, settings)
            else:
                _print_story(summary, bank, settings)
    if keep and not as_json:
        note(f"Kept. Try: strandline search --store {keep} --app star --user USER 'hotel'")


def _ingest(settings: Settings, *, quiet: bool) -> Finished | None:
    """Run the flow to its end; None when it was stopped before."""
    from flows.services import FROM_KAFKA, Job  # noqa: PLC0415

    lines = SAMPLE.read_bytes().splitlines()
    _produce(settings.kafka, lines)
    if not quiet:
        note(f"Sent {len(lines)} messages to an embedded Kafka broker, topic of {PARTITIONS} partitions.")
    job = Job(settings=settings, source=FROM_KAFKA, until_end=True)
    finished = run_job(job, quiet=quiet)
    return None if job.stop.is_set() else finished


def _produce(kafka: KafkaSettings, lines: list[bytes]) -> None:
    """Send the lines keyed by user, so that a session and its user stand on one partition."""
    from operators.kafka_client import Admin  # noqa: PLC0415
    from operators.kafka_sink import KafkaSink, Outgoing  # noqa: PLC0415

    with Admin(kafka) as admin:
        admin.create([kafka.topic], PARTITIONS)
    partition = KafkaSink(kafka).build("demo", 0, 1)
    partition.write_batch([Outgoing(kafka.topic, msgspec.json.decode(line)["userId"].encode(), line) for line in lines])
    partition.close()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _print_json(summary: IngestSummary, bank: "Bank", settings: Settings) -> None:
    from memory.views import claim_json  # noqa: PLC0415

    vocabulary = settings.keys()
    print_json(
        {
            "summary": summary,
            "app": SHOWN.app,
            "user": SHOWN.user,
            "claims": [claim_json(claim, vocabulary) for claim in bank.claims()],
            "context": bank.context(QUESTION, _now_ms()),
        }
    )


def _print_story(summary: IngestSummary, bank: "Bank", settings: Settings) -> None:
    print_summary(summary)
    claims = bank.claims()
    by_id = {claim.id: claim for claim in claims}
    sessions = len({claim.session_id for claim in claims})
    print_line("")
    print_line((f"What is remembered of {SHOWN.user} ({SHOWN.app}), from {sessions} sessions", "bold"))
    for claim in claims:
        if claim.status is ClaimStatus.ACTIVE:
            _print_claim(claim)
    _print_group("Superseded: kept, with what replaced it", claims, ClaimStatus.SUPERSEDED, by_id)
    _print_group("In conflict: both are shown until one is settled", claims, ClaimStatus.CONFLICTING, by_id)
    _print_group("Answered", claims, ClaimStatus.CLOSED, by_id)
    print_line("")
    print_line(("The grounding block that an agent is given", "bold"), f" for: {QUESTION}")
    print_text(bank.context(QUESTION, _now_ms()))


def _print_group(title: str, claims: list[Claim], status: ClaimStatus, by_id: dict[str, Claim]) -> None:
    group = [claim for claim in claims if claim.status is status]
    if not group:
        return
    print_line("")
    print_line((title, "bold"))
    for claim in group:
        _print_claim(claim)
        if claim.superseded_by in by_id:
            print_line(f"      now: {by_id[claim.superseded_by].text}")


def _print_claim(claim: Claim) -> None:
    print_line("  ", (f"{claim.kind:<13} ", "cyan"), claim.text)
    where = ", ".join(claim.sources)
    print_line("  ", " " * 14, (f"“{claim.quote}” — {claim.authority}, {claim.session_id}, {where}", "dim"))
