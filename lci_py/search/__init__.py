"""Search: plan a query, retrieve candidates, merge them into a ranking, and annotate the results."""
