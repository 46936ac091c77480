-- Removes one key and what stands beside it, if it is still what was saved.
-- KEYS: the key, the name under which it must be as well where ARGV[3] is 1, and what stands beside it.
-- ARGV: 1 to do it and 0 to look; the digest of what was saved; whether it must be under another name as well.
-- Returns 0 gone, 1 done, 5 not saved, 7 lone.
local key, first = KEYS[1], 2
if redis.call('EXISTS', key) == 0 then return 0 end
if ARGV[3] == '1' then
  if redis.call('EXISTS', KEYS[2]) == 0 then return 7 end
  first = 3
end
if ARGV[1] == '0' then return 1 end
if redis.sha1hex(redis.call('DUMP', key) .. redis.call('PEXPIRETIME', key)) ~= ARGV[2] then return 5 end
redis.call('UNLINK', key)
for at = first, #KEYS do redis.call('UNLINK', KEYS[at]) end
return 1
