-- Lets a session be used that has arrived under its new id, unless it was revoked meanwhile. KEYS: its tombstone.
-- ARGV: what the tombstone holds until then. Returns whether it can be used.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1
