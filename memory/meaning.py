"""The `meaning` vector: dense, from any OpenAI-compatible embeddings endpoint, when one is set."""

from collections.abc import Sequence

import openai

from memory.errors import EmbeddingMismatch, EmbeddingUnavailable
from schemas.setting_names import without_password
from schemas.settings import EmbeddingSettings

BATCH = 64
"""Texts in one call: small servers hold one batch in memory, and a claim is short."""
RETRIES = 2
"""Extra attempts that the client makes after a time-out, 429 or 5xx, with its own back-off."""


class Embedder:
    """Turns texts into vectors of one model; knows the model's size after the first call."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        """Take `settings` with a `base_url`; nothing is called yet."""
        self._settings = settings
        self._dimensions = settings.dimensions
        # Servers without authentication ignore the key, but the client insists on one.
        key = settings.api_key.get_secret_value() or "none"
        self._client = openai.OpenAI(
            base_url=settings.base_url, api_key=key, timeout=settings.timeout_s, max_retries=RETRIES
        )

    @property
    def name(self) -> str:
        """The model's name, as the endpoint knows it."""
        return self._settings.name

    @property
    def dimensions(self) -> int:
        """The size of a vector; asked of the endpoint once when the settings leave it open.

        Raises:
            EmbeddingUnavailable: the endpoint had to be asked and did not answer.
        """
        if not self._dimensions:
            self._dimensions = len(self._embed([f"{self._settings.passage_prefix}size"])[0])
        return self._dimensions

    def passages(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per stored text, in order, in calls of at most `BATCH` texts.

        Raises:
            EmbeddingUnavailable: the endpoint did not answer, or with a fault.
            EmbeddingMismatch: a vector has another size than the settings or earlier ones.
        """
        prefixed = [self._settings.passage_prefix + text for text in texts]
        return self._checked(
            [vector for i in range(0, len(texts), BATCH) for vector in self._embed(prefixed[i : i + BATCH])]
        )

    def query(self, text: str) -> list[float]:
        """Return the vector of a query; raises as `passages` does."""
        return self._checked(self._embed([self._settings.query_prefix + text]))[0]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _embed(self, texts: list[str]) -> list[list[float]]:
        where = f"embeddings endpoint {without_password(self._settings.base_url)!r}, model {self._settings.name!r}"
        try:
            answer = self._client.embeddings.create(model=self._settings.name, input=texts, encoding_format="float")
        except openai.AuthenticationError as error:
            msg = f"{where}: the key was refused; set embedding.api_key"
            raise EmbeddingUnavailable(msg) from error
        except openai.OpenAIError as error:
            msg = f"{where}: {type(error).__name__}: {str(error)[:200]}; check embedding.base_url and embedding.name"
            raise EmbeddingUnavailable(msg) from error
        vectors = [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
        if len(vectors) != len(texts):
            msg = f"{where}: {len(texts)} texts were sent and {len(vectors)} vectors came back"
            raise EmbeddingUnavailable(msg)
        return vectors

    def _checked(self, vectors: list[list[float]]) -> list[list[float]]:
        for vector in vectors:
            if self._dimensions and len(vector) != self._dimensions:
                msg = (
                    f"embedding model {self._settings.name!r} gave a vector of {len(vector)} numbers where "
                    f"{self._dimensions} were expected; set embedding.dimensions to {len(vector)} or 0"
                )
                raise EmbeddingMismatch(msg)
            self._dimensions = len(vector)
        return vectors
