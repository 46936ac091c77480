-- Brings a value back to its old name in another slot or database, if that is still what was read there.
-- KEYS: the name; if something can stand beside it, the lease that was taken there before both names were read: whoever
--   changes the key ends it.
-- ARGV: the digest of what stood there, or nothing; when the value ends in ms since 1970, or -1; the value as DUMP gives it;
--   the token of the lease.
-- Returns 1 done, 3 it was changed since.
local key, lease, there = KEYS[1], KEYS[2], ''
if lease then
  -- What was absent when it was read may have been written and deleted since.
  if redis.call('GET', lease) ~= ARGV[4] then return 3 end
  redis.call('DEL', lease)
end
if redis.call('EXISTS', key) == 1 then
  there = redis.sha1hex(redis.call('DUMP', key) .. redis.call('PEXPIRETIME', key))
end
if there ~= ARGV[1] then return 3 end
redis.call('RESTORE', key, string.format('%.0f', math.max(tonumber(ARGV[2]), 0)), ARGV[3], 'REPLACE', 'ABSTTL')
return 1
