"""Who may do what: tokens with a scope and limits, and the access of the call that is running."""
