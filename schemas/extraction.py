"""What the model must return for one slice: claims and a digest line, in one JSON object.

Events are cited by the short ordinals of the transcript (`[n]`), which the code maps back to event ids.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ClaimKind = Literal["fact", "preference", "decision", "commitment", "open_question"]
CLAIM_KINDS: tuple[ClaimKind, ...] = ("fact", "preference", "decision", "commitment", "open_question")


class ExtractedClaim(BaseModel):
    """One thing worth remembering, as the model states it."""

    model_config = ConfigDict(extra="forbid")

    kind: ClaimKind
    key: str = Field(description="A key of the vocabulary, or `other.` and a new name in snake_case.")
    about: str = Field(
        default="user", description="Whom or what it concerns: `user`, or a name or word that stands in a source."
    )
    text: str = Field(description="One sentence in the third person that stands by itself.")
    sources: list[int] = Field(description="Ordinals of the transcript lines that prove it.")
    quote: str = Field(description="A verbatim span of one cited line.")
    confidence: float = Field(ge=0.0, le=1.0)
    durable: bool = Field(default=True, description="False when it is of no use after this conversation.")
    change: bool = Field(default=False, description="True when the speaker says that it replaces what held before.")
    condition: str | None = Field(default=None, description="When it holds only under a condition: that condition.")
    when: str | None = Field(default=None, description="An ISO date, or a range as date/date, that the claim is about.")
    closes: str | None = Field(
        default=None,
        description="What this answers or settles: the ordinal of the transcript line that asked, "
        "or the label (r1, r2 ...) of a line of the record so far.",
    )


class Digest(BaseModel):
    """One line that says what happened in the slice."""

    model_config = ConfigDict(extra="forbid")

    text: str
    sources: list[int] = Field(description="Ordinals of the transcript lines that it rests on.")


class Extraction(BaseModel):
    """The model's whole answer for one slice."""

    model_config = ConfigDict(extra="forbid")

    claims: list[ExtractedClaim]
    digest: Digest
