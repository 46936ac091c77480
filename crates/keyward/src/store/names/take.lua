-- Takes a value out: it is gone under all its names, with all that was derived from it, and the leases of whoever is
-- about to fill it.
-- KEYS: the names that are asked, in their order, then what goes with them, and the indexes, which know it as ARGV[3].
-- ARGV: how many names are asked, how many indexes there are, the name that they know, the command that reads the value,
--   its arguments behind the key.
-- Returns the value.
local value = false
for at = tonumber(ARGV[1]), 1, -1 do
  if redis.call('EXISTS', KEYS[at]) == 1 then value = redis.call(ARGV[4], KEYS[at], unpack(ARGV, 5)) end
end
local indexes = #KEYS - tonumber(ARGV[2])
for at = 1, indexes do redis.call('UNLINK', KEYS[at]) end
for at = indexes + 1, #KEYS do redis.call('ZREM', KEYS[at], ARGV[3]) end
return value
