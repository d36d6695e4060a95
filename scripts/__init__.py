"""Programs for developers; the product and its installation have none of them."""
