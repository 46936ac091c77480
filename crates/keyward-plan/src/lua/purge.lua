-- Removes a dead letter with its note; `unbury` stands before it.
-- KEYS: the dead letters, and their notes where they have some. ARGV: the letter.
-- Returns 0 gone, 1 done.
return unbury(KEYS[1], KEYS[2] or false, ARGV[1])
