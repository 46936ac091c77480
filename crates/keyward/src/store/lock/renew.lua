#!lua flags=allow-oom
-- Renews a lock that this attempt still holds. A full server does it too.
-- KEYS: `~fence`, then every name of the lock.
-- ARGV: the holder's name, the attempt, the TTL in ms, how many may hold it at once.
-- Returns 1, or 0 if the lock is not held any more.
local ttl, member = tonumber(ARGV[3]), ARGV[1] .. ' ' .. ARGV[2]
if tonumber(ARGV[4]) > 1 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for at = 2, #KEYS do
    if tonumber(redis.call('ZSCORE', KEYS[at], member) or 0) <= now then return 0 end
  end
  for at = 2, #KEYS do
    redis.call('ZADD', KEYS[at], now + ttl, member)
    redis.call('PEXPIRE', KEYS[at], ttl, 'GT')
  end
else
  local owner = string.match(redis.call('GET', KEYS[1]) or '', '^%d+ (.*)$')
  if owner ~= ARGV[2] then return 0 end
  for at = 2, #KEYS do
    if redis.call('GET', KEYS[at]) ~= ARGV[1] then return 0 end
  end
  for at = 2, #KEYS do redis.call('PEXPIRE', KEYS[at], ttl) end
end
redis.call('PEXPIRE', KEYS[1], ttl + 86400000, 'GT')
return 1
