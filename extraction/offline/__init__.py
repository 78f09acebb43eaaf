"""The offline model: a local server that speaks the OpenAI chat-completions protocol and extracts by rules.

It reads nothing but the messages of a request, so it stands behind the same client, the same validation and the same
cost accounting as a hosted model. It is for trying things, for the demo and for tests.
"""

from extraction.offline.protocol import MODEL_NAME
from extraction.offline.server import OfflineModel

__all__ = ["MODEL_NAME", "OfflineModel"]
