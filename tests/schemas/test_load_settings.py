"""Settings: which source wins, and what a user is told who made a mistake."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from schemas.load_settings import Origin, load
from schemas.setting_faults import EXAMPLES, IN_WORDS, SettingsError
from schemas.setting_names import LEAVES, leaf_of, shown, value_of, without_password, without_passwords
from schemas.settings import Settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith(("STRANDLINE_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write_file


def only_fault(error: pytest.ExceptionInfo[SettingsError]) -> str:
    assert len(error.value.faults) == 1, error.value.faults
    return error.value.faults[0]


def test_load_without_any_source_gives_the_defaults() -> None:
    loaded = load(None, {})
    assert loaded.settings == Settings()
    assert loaded.file is None
    assert set(loaded.origins) == set(LEAVES)
    assert set(loaded.origins.values()) == {Origin("default")}


def test_load_option_beats_environment_beats_file_beats_default(
    write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("s.yaml", "kafka: {topic: file, group: file, bootstrap: file, retry_topic: file}")
    monkeypatch.setenv("STRANDLINE_KAFKA__TOPIC", "env")
    monkeypatch.setenv("STRANDLINE_KAFKA__GROUP", "env")
    loaded = load(file, {"kafka.topic": "option", "kafka.bootstrap": None})
    kafka = loaded.settings.kafka
    assert (kafka.topic, kafka.group, kafka.bootstrap, kafka.late_topic) == ("option", "env", "file", "strandline-late")
    assert loaded.origins["kafka.topic"] == Origin("option")
    assert loaded.origins["kafka.group"] == Origin("environment", "STRANDLINE_KAFKA__GROUP")
    assert loaded.origins["kafka.bootstrap"] == Origin("file", str(file))
    assert loaded.origins["kafka.late_topic"] == Origin("default")


@pytest.mark.parametrize(
    ("name", "text"),
    [("s.toml", "[store]\nurl = 'here'\n"), ("s.yml", "store:\n  url: here\n"), ("s.yaml", "store:\n  url: here\n")],
)
def test_load_reads_yaml_and_toml(write: Callable[[str, str], Path], name: str, text: str) -> None:
    assert load(write(name, text), {}).settings.store.url == "here"


def test_load_takes_the_file_that_the_variable_names(
    write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("s.toml", "[store]\nurl = 'here'\n")
    monkeypatch.setenv("STRANDLINE_SETTINGS", str(file))
    loaded = load(None, {})
    assert loaded.file == file
    assert loaded.settings.store.url == "here"


def test_load_file_with_nothing_in_it_or_in_a_section_says_nothing(write: Callable[[str, str], Path]) -> None:
    assert load(write("empty.yaml", "# nothing yet\n"), {}).settings == Settings()
    assert load(write("bare.yaml", "kafka:\n"), {}).settings == Settings()


def test_load_empty_variable_says_nothing_and_null_says_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_KAFKA__TOPIC", "")
    monkeypatch.setenv("STRANDLINE_SESSIONS__IDLE_AFTER_S", "null")
    loaded = load(None, {})
    assert loaded.settings.kafka.topic == "strandline-events"
    assert loaded.origins["kafka.topic"] == Origin("default")
    assert loaded.settings.sessions.idle_after_s is None


def test_load_openai_variables_serve_only_when_nothing_else_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://openai")
    monkeypatch.setenv("OPENAI_API_KEY", "borrowed")
    loaded = load(None, {})
    assert loaded.settings.model.base_url == "http://openai"
    assert loaded.settings.model.api_key.get_secret_value() == "borrowed"
    assert loaded.origins["model.api_key"] == Origin("environment", "OPENAI_API_KEY")
    monkeypatch.setenv("STRANDLINE_MODEL__API_KEY", "own")
    loaded = load(None, {"model.base_url": ""})
    assert loaded.settings.model.api_key.get_secret_value() == "own"
    assert loaded.settings.model.base_url == ""


def test_load_json_and_nested_variables_of_one_table_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_PRICES", '{"gpt-x": {"input": 1}, "local": {"input": 5}}')
    monkeypatch.setenv("STRANDLINE_PRICES__LOCAL__OUTPUT", "7")
    loaded = load(None, {})
    assert loaded.settings.price("gpt-x").input == 1
    assert (loaded.settings.price("local").input, loaded.settings.price("local").output) == (5, 7)
    assert loaded.origins["prices"].place == "STRANDLINE_PRICES, STRANDLINE_PRICES__LOCAL__OUTPUT"


def test_load_more_special_variable_beats_the_one_for_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_KAFKA", '{"topic": "whole", "group": "whole"}')
    monkeypatch.setenv("STRANDLINE_KAFKA__TOPIC", "special")
    kafka = load(None, {}).settings.kafka
    assert (kafka.topic, kafka.group) == ("special", "whole")


def test_load_ignores_what_kubernetes_puts_there_for_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "STRANDLINE_SERVICE_HOST": "10.0.0.1",
        "STRANDLINE_SERVICE_PORT_HTTP": "80",
        "STRANDLINE_PORT": "tcp://10.0.0.1:80",
        "STRANDLINE_METRICS_PORT_9464_TCP_ADDR": "10.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    assert load(None, {}).settings == Settings()


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("STRANDLINE_KAFKA__TOPIK", "STRANDLINE_KAFKA__TOPIC"),
        ("STRANDLINE_KAFKA_TOPIC", "STRANDLINE_KAFKA__TOPIC"),
        ("STRANDLINE_RUN__METRCS_PORT", "STRANDLINE_RUN__METRICS_PORT"),
        ("STRANDLINE_MODEL__APIKEY", "STRANDLINE_MODEL__API_KEY"),
    ],
)
def test_load_unknown_variable_names_the_nearest_and_never_the_value(
    monkeypatch: pytest.MonkeyPatch, variable: str, nearest: str
) -> None:
    monkeypatch.setenv(variable, "hunter2")
    with pytest.raises(SettingsError) as error:
        load(None, {})
    sentence = only_fault(error)
    assert variable in sentence
    assert f"did you mean {nearest}?" in sentence
    assert "hunter2" not in sentence


def test_load_unknown_key_of_a_file_names_the_nearest(write: Callable[[str, str], Path]) -> None:
    file = write("s.yaml", "kafka:\n  topc: x\n")
    with pytest.raises(SettingsError) as error:
        load(file, {})
    assert only_fault(error) == f"kafka.topc in {file} is no setting; did you mean kafka.topic?"


def test_load_unknown_option_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"store\.uri on the command line is no setting; did you mean store\.url\?"):
        load(None, {"store.uri": "x"})


def test_load_wrong_value_tells_name_value_place_reason_and_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_KAFKA__REQUEST_TIMEOUT_S", "0")
    with pytest.raises(SettingsError) as error:
        load(None, {})
    assert only_fault(error) == (
        "kafka.request_timeout_s is '0' in the environment variable STRANDLINE_KAFKA__REQUEST_TIMEOUT_S, but it should "
        "be greater than 0; mend it, or leave it out for the default, 8.0."
    )


def test_load_tells_of_every_fault_at_once(write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_MODEL__MAX_IN_FLIGHT", "many")
    file = write("s.toml", "[kafka]\nsecurity_protocol = 'TLS'\nbatch_sise = 3\n")
    with pytest.raises(SettingsError) as error:
        load(file, {"read.limit": 0})
    text = str(error.value)
    assert len(error.value.faults) == 4
    for part in ("kafka.batch_sise", "kafka.security_protocol is 'TLS'", "model.max_in_flight is 'many'", "read.limit"):
        assert part in text


def test_load_rule_over_several_settings_names_where_they_were_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_SESSIONS__LATENESS_S", "99999")
    with pytest.raises(SettingsError) as error:
        load(None, {})
    sentence = only_fault(error)
    assert "lower lateness_s" in sentence
    assert "STRANDLINE_SESSIONS__LATENESS_S" in sentence


def test_load_secret_of_a_wrong_type_is_masked(write: Callable[[str, str], Path]) -> None:
    file = write("s.yaml", "model:\n  api_key: 123456789\n")
    with pytest.raises(SettingsError) as error:
        load(file, {})
    assert "model.api_key" in only_fault(error)
    assert "123456789" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.yaml", "model: {api_key: hunter2\n"),
        ("s.yaml", "model:\n  api_key: !hunter2 hunter2\n"),
        ("s.yaml", "model: *hunter2\n"),
        ("s.toml", "[model]\napi_key = hunter2\n"),
    ],
)
def test_load_file_that_cannot_be_parsed_does_not_quote_a_secret(
    write: Callable[[str, str], Path], name: str, text: str
) -> None:
    file = write(name, text)
    with pytest.raises(SettingsError) as error:
        load(file, {})
    assert str(file) in only_fault(error)
    assert "hunter2" not in str(error.value)


def test_load_malformed_json_variable_does_not_quote_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_MODEL", '{"api_key": "hunter2"')
    with pytest.raises(SettingsError) as error:
        load(None, {})
    assert "STRANDLINE_MODEL" in only_fault(error)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("s.ini", "x", "call it .yaml"),
        ("s.yaml", "- a\n- b\n", "holds no names"),
        ("s.yaml", "kafka: 3\n", "kafka in"),
        ("s.yaml", "prices: {gpt: {input: 1, inputs: 2}}", "prices.gpt.inputs"),
        ("s.yaml", "vocabulary: [{name: a, meaning: b}]", "vocabulary.0.kind"),
    ],
)
def test_load_file_of_a_wrong_shape_is_one_sentence(
    write: Callable[[str, str], Path], name: str, text: str, says: str
) -> None:
    with pytest.raises(SettingsError) as error:
        load(write(name, text), {})
    assert says in only_fault(error)


def test_load_missing_file_says_how_to_name_another(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load(tmp_path / "absent.yaml", {})
    assert "--settings" in only_fault(error)


def test_shown_masks_secrets_and_passwords_in_urls() -> None:
    key = LEAVES["model.api_key"]
    assert shown(key, SecretStr("hunter2")) == shown(key, SecretStr("a")) == "**********"
    assert shown(key, SecretStr("")) == ""
    url = LEAVES["store.url"]
    assert shown(url, "https://ann:hunter2@qdrant:6333/x") == "https://ann:**********@qdrant:6333/x"
    assert shown(url, "https://hunter2@qdrant:6333") == "https://**********@qdrant:6333"
    assert without_password("./folder@home") == "./folder@home"


def test_every_secret_setting_is_known_as_one() -> None:
    names = {leaf.name for leaf in LEAVES.values() if leaf.secret}
    values = {name for name in LEAVES if isinstance(value_of(Settings(), name), SecretStr)}
    assert names == values
    assert {"model.api_key", "store.api_key", "kafka.sasl_password"} <= names


def test_leaf_of_finds_the_setting_that_a_path_lies_within() -> None:
    assert leaf_of("prices.gpt-4.1.input") == LEAVES["prices"]
    assert leaf_of("kafka") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("store: {prefix: A B}", "1 to 40 characters, each a small letter"),
        ("vocabulary: [{name: A b, kind: fact, meaning: x}]", "dots between words"),
        ("prices: 3", 'like {"gpt-4.1-mini": {"input": 0.4, "cached": 0.1, "output": 1.6}}'),
        ("prices: {mine: 3}", 'like {"input": 0.4, "cached": 0.1, "output": 1.6}'),
        ("extraction: {memory_tools: load_memory}", 'like ["load_memory"]'),
        ("vocabulary: [pet]", 'like {"name": "pet", "kind": "fact"'),
        ("decode: {tool_result_chars: 3}", "like {"),
    ],
)
def test_load_value_of_a_wrong_form_is_told_in_words_or_by_example(
    write: Callable[[str, str], Path], text: str, says: str
) -> None:
    with pytest.raises(SettingsError) as error:
        load(write("s.yaml", text), {})
    assert says in only_fault(error)


def test_load_variable_that_is_no_json_shows_how_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRANDLINE_EXTRACTION__MEMORY_TOOLS", "load_memory")
    with pytest.raises(SettingsError) as error:
        load(None, {})
    assert only_fault(error).endswith('mend it, for example ["load_memory"].')


def _tables() -> dict[str, object]:
    return {name: leaf.default for name, leaf in LEAVES.items() if isinstance(leaf.default, dict | tuple)}


def test_every_list_and_table_has_an_example_that_holds() -> None:
    assert set(EXAMPLES) == set(_tables())
    for name, example in EXAMPLES.items():
        assert load(None, {name: example}).origins[name].source == "option"


def _patterns(schema: object) -> set[str]:
    if isinstance(schema, dict):
        own = {schema["pattern"]} if isinstance(schema.get("pattern"), str) else set()
        return own.union(*map(_patterns, schema.values()))
    return set().union(*map(_patterns, schema)) if isinstance(schema, list) else set()


def test_every_pattern_is_told_in_words() -> None:
    assert _patterns(Settings.model_json_schema()) == set(IN_WORDS)


def _numbers(section: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in section.model_fields.items():
        for one in (field.annotation, *get_args(field.annotation)):
            if isinstance(one, type) and issubclass(one, BaseModel):
                yield from _numbers(one)
            if one in {int, float}:
                yield f"{section.__name__}.{name}", field


def test_every_number_has_a_lowest_and_a_highest_value() -> None:
    for name, field in _numbers(Settings):
        bounds = {type(one) for one in field.metadata}
        assert bounds & {Gt, Ge}, name
        assert bounds & {Lt, Le}, name


@pytest.mark.parametrize("value", ["inf", "nan", "-inf", "1e400"])
@pytest.mark.parametrize("name", ["MODEL__TIMEOUT_S", "READ__WEIGHT_FRESHNESS", "PRICES__MINE__INPUT"])
def test_load_number_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"STRANDLINE_{name}", value)
    with pytest.raises(SettingsError, match="finite"):
        load(None, {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kafka:\n  topic: a\n  group: g\n  topic: b\n", "kafka.topic stands twice in the settings file"),
        ("kafka: {topic: a}\nstore:\n  url: x\n\nkafka: {group: b}\n", "kafka stands twice"),
        ("vocabulary:\n- name: a\n  kind: fact\n  meaning: x\n  name: b\n", "vocabulary.0.name stands twice"),
    ],
)
def test_load_key_that_stands_twice_is_named_with_its_line(
    write: Callable[[str, str], Path], text: str, says: str
) -> None:
    with pytest.raises(SettingsError) as error:
        load(write("s.yaml", text), {})
    assert says in only_fault(error)
    assert f"again at line {5 if text[0] == 'v' or 'store' in text else 4};" in only_fault(error)


def test_load_anchor_that_is_used_twice_or_within_itself_is_no_doubled_key(write: Callable[[str, str], Path]) -> None:
    file = write("s.yaml", "prices:\n  a: &price {input: 1}\n  b: *price\n  c: {<<: *price, output: 2}\n")
    prices = load(file, {}).settings.prices
    assert (prices["b"].input, prices["c"].input, prices["c"].output) == (1, 1, 2)
    with pytest.raises(SettingsError):
        load(write("loop.yaml", "a: &a [*a]\n"), {})


@pytest.mark.parametrize(
    "variable", ["STRANDLINE_COLOUR", "STRANDLINE_FOO__BAR", "STRANDLINE_TOKEN", "STRANDLINE_KAFKA__X"]
)
def test_load_unknown_variable_like_no_other_gets_no_guess(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "x")
    with pytest.raises(SettingsError) as error:
        load(None, {})
    assert "did you mean" not in only_fault(error)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://me:a/b@h", "http://me:**********@h"),
        ("http://me:a@b@h", "http://me:**********@h"),
        ("https://tok/en@h", "https://**********@h"),
        ("me:hunter2@h:6333", "me:**********@h:6333"),
        ("http://h:6333/x", "http://h:6333/x"),
        ("qdrant:6333", "qdrant:6333"),
        ("note: mail ann@h", "note: mail ann@h"),
    ],
)
def test_without_password_masks_any_password_and_nothing_else(url: str, expected: str) -> None:
    assert without_password(url) == expected


def test_without_passwords_masks_every_url_of_a_text() -> None:
    told = without_passwords("GET http://me:hunter2@h:1/x and https://tok@h/, not http://h:80/a@b or ann@h")
    assert told == "GET http://me:**********@h:1/x and https://**********@h/, not http://h:80/a@b or ann@h"
