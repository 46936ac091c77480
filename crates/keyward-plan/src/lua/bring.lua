-- Brings a value back to its old name in another slot or database, if that is still what was read there.
-- KEYS: the name. ARGV: the digest of what stood there, or nothing; when the value ends in ms since 1970, or -1; the value
--   as DUMP gives it.
-- Returns 1 done, 3 it was changed since.
local key, there = KEYS[1], ''
if redis.call('EXISTS', key) == 1 then
  there = redis.sha1hex(redis.call('DUMP', key) .. redis.call('PEXPIRETIME', key))
end
if there ~= ARGV[1] then return 3 end
redis.call('RESTORE', key, string.format('%.0f', math.max(tonumber(ARGV[2]), 0)), ARGV[3], 'REPLACE', 'ABSTTL')
return 1
