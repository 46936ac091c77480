-- Ends a token whose successor has arrived, unless it was changed since it was copied. KEYS: the token, what became of it.
-- ARGV: the value that was copied (DUMP); the successor's name; how long it is remembered, in ms. Returns whether it has ended.
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if redis.call('DUMP', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], 'next', ARGV[2], 'used', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('UNLINK', KEYS[1])
return 1
