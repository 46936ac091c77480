-- Ends a session under its old id, unless it was changed since it was copied. KEYS: the session, its tombstone, its end.
-- ARGV: the value that was copied (DUMP); ms that the tombstone stands.
-- Returns 1; 0 if it is not live any more; -1 if it was changed.
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if redis.call('DUMP', KEYS[1]) ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[2], 'rotated', 'PX', ARGV[2])
redis.call('UNLINK', KEYS[1], KEYS[3])
return 1
