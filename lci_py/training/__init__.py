"""How the model in the package is made: corpus, pairs, tokenizer, training, evaluation, export (docs/model.md).

Nothing else imports this. It may import everything, and needs the extra `training` (torch).
"""
