-- Puts a session that is moving under its new id, where it cannot be used yet. KEYS: the new session, its tombstone, its end.
-- ARGV: what the tombstone holds until then; the value (DUMP); its TTL in ms; its end in ms since 1970, or ''.
-- Returns 1; 0 if the id is not free.
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
redis.call('RESTORE', KEYS[1], ARGV[3], ARGV[2])
if ARGV[4] ~= '' then
  redis.call('SET', KEYS[3], ARGV[4])
  redis.call('PEXPIREAT', KEYS[3], ARGV[4])
end
return 1
