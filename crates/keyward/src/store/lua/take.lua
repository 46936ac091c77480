-- Takes a value out: it is gone, with all that was derived from it, and the leases of whoever is about to fill it.
-- KEYS: the key, its derived keys, and as many indexes as ARGV[1] says, which know it as ARGV[2].
-- ARGV: the number of indexes, the name that they know, the command that reads the value, its arguments behind the key.
-- Returns the value.
local indexes = tonumber(ARGV[1])
local value = redis.call(ARGV[3], KEYS[1], unpack(ARGV, 4))
for at = 1, #KEYS - indexes do redis.call('UNLINK', KEYS[at]) end
for at = #KEYS - indexes + 1, #KEYS do redis.call('ZREM', KEYS[at], ARGV[2]) end
return value
