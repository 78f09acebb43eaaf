"""From a slice to a validated extraction: transcript, prompt, client, rules, cost. No Bytewax, no Qdrant."""
