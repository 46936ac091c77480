-- Gives a key back the end that it had, if it still has the one that it was given.
-- KEYS: the key. ARGV: the end that it had (-1: none); the end that it was given.
-- Returns 0 gone, 1 done, 2 the same already, 3 its end was changed since.
local ends = tostring(redis.call('PEXPIRETIME', KEYS[1]))
if ends == '-2' then return 0 end
if ends == ARGV[1] then return 2 end
if ends ~= ARGV[2] then return 3 end
if ARGV[1] == '-1' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIREAT', KEYS[1], ARGV[1]) end
return 1
