"""`ctx stdio`: the servers for clients that start them themselves."""
