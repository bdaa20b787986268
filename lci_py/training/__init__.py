"""Make the embedding model of the package: corpus, pairs, tokenizer, training, evaluation, export (docs/model.md).

Nothing else imports this folder, and a wheel does not have it. It needs the extra `training` (torch).
"""
