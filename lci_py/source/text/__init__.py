"""Words, stems and digests of text."""
