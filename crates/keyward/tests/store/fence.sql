-- ANCHOR: table
CREATE TABLE stock (
    shop   INTEGER PRIMARY KEY,
    pieces INTEGER NOT NULL,
    fence  INTEGER NOT NULL DEFAULT 0
);
-- ANCHOR_END: table
INSERT INTO stock (shop, pieces) VALUES (7, 0);
-- ANCHOR: update
UPDATE stock SET pieces = :pieces, fence = :fence
WHERE shop = :shop AND fence <= :fence;
-- ANCHOR_END: update
