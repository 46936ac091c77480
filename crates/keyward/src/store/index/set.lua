-- One set's part of a change across slots: later changes of a member win, and one that comes too late to tell is refused.
-- KEYS: the set, its last changes. ARGV: 1 to put, 0 to remove; the member; the version of the change; bound, TTL and keeping of the set.
-- Returns 1; 0 if a later change was first; -1 if the set is full; -2 if the change is too old.
if tonumber(ARGV[3]) < now - 300000000 then return -2 end
local seen = redis.call('ZSCORE', KEYS[2], ARGV[2])
if seen and tonumber(seen) > tonumber(ARGV[3]) then return 0 end
if ARGV[1] == '1' then
  if ARGV[4] ~= '0' and redis.call('SISMEMBER', KEYS[1], ARGV[2]) == 0 and redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[4]) then
    return -1
  end
  redis.call('SADD', KEYS[1], ARGV[2])
  live(KEYS[1], ARGV[5], ARGV[6])
else
  redis.call('SREM', KEYS[1], ARGV[2])
end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - 600000000))
redis.call('PEXPIRE', KEYS[2], 600000)
return 1
