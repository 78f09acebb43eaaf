import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.names import alias_name, bank_of, generation_name, generation_of, ledger_name, scope_hash
from schemas.scope import Scope

USERS = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)


@given(a=st.tuples(USERS, USERS), b=st.tuples(USERS, USERS))
def test_names_differ_exactly_when_scopes_do(a, b):
    assert (scope_hash(Scope(*a)) == scope_hash(Scope(*b))) == (a == b)


@given(app=USERS, user=USERS)
def test_names_are_safe_and_short_whatever_the_user_id(app, user):
    name = generation_name(alias_name("strandline", Scope(app, user)), 12)
    assert name.isascii()
    assert len(name) < 60
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b/c"), ("a/b", "c")),
        (("a", "é"), ("a", unicodedata.normalize("NFD", "é"))),
        (("a", "ada"), ("a", "\u0430da")),
        (("a", "ada"), ("a", "ada\u200b")),
        (("a", "ada"), ("a", "ada ")),
        (("a", "x" * 1000), ("a", "x" * 999)),
        (("ab", "c"), ("a", "bc")),
    ],
)
def test_names_of_look_alikes_differ(one, other):
    assert alias_name("p", Scope(*one)) != alias_name("p", Scope(*other))


def test_names_are_read_back():
    alias = alias_name("my_app", Scope("a", "b"))
    assert generation_of(alias, generation_name(alias, 7)) == 7
    assert bank_of("my_app", generation_name(alias, 7)) == alias
    assert bank_of("my", generation_name(alias, 7)) is None
    assert bank_of("my_app", ledger_name("my_app")) is None
    assert generation_of(alias, alias) is None
