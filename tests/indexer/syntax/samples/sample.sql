-- People who buy.
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE INDEX customers_name ON customers (name);

CREATE VIEW open_orders AS
SELECT id, total FROM orders WHERE paid = FALSE;

CREATE FUNCTION add_tax(price NUMERIC) RETURNS NUMERIC AS $$
    SELECT price * 1.19;
$$ LANGUAGE sql;

INSERT INTO customers (id, name) VALUES (1, 'Ada');
