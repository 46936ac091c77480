-- Removes a key if it is still what it was. KEYS: the key. ARGV: its digest.
-- Returns 0 gone, 1 done, 3 it was changed since.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.sha1hex(redis.call('DUMP', KEYS[1]) .. redis.call('PEXPIRETIME', KEYS[1])) ~= ARGV[1] then return 3 end
redis.call('UNLINK', KEYS[1])
return 1
