"""The index: builds it, stores it safely, and reads its shards (the files that it consists of)."""
