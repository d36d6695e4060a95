"""Each revision says for itself what it does; it never imports the tables, which go on changing."""
