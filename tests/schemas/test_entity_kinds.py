"""A deployment's own kinds of entity: what is refused, and what the message says."""

from pathlib import Path

import pytest

from extraction.entities import find_entities
from schemas.entity_kinds import ENTITY_KINDS
from schemas.load_settings import load
from schemas.setting_faults import SettingsError


def faults(tmp_path: Path, text: str) -> str:
    file = tmp_path / "s.yaml"
    file.write_text(f"extraction: {text}")
    with pytest.raises(SettingsError) as error:
        load(file, {})
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{patterns: {contract: '['}}", ("'['", "no regular expression")),
        ("{patterns: {contract: 'x*'}}", ("'x*'", "matches the empty text")),
        ("{patterns: {amount: 'x'}}", ("'amount'", "choose another, as in own_amount")),
        ("{patterns: {Contract No: 'x'}}", ("'Contract No'", "small letters")),
        ("{required_entities: [emails]}", ("'emails'", "email", "extraction.patterns")),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_value_and_a_remedy(
    tmp_path: Path, text: str, told: tuple[str, ...]
) -> None:
    message = faults(tmp_path, text)
    assert all(part in message for part in told), message


def test_a_pattern_may_be_required(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("extraction: {patterns: {contract: 'K-[0-9]+'}, required_entities: [contract, amount]}")
    assert load(file, {}).settings.extraction.required_entities == ("contract", "amount")


def test_every_kind_that_is_found_is_known() -> None:
    text = "A-1001 for $5 on 2026-05-15, mail a@b.org, call +49 30 1234567, see www.x.org, 42"
    assert {entity.kind for entity in find_entities(text)} == set(ENTITY_KINDS)
