"""Words, stems, patterns and digests of text."""
