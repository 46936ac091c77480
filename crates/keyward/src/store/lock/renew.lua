#!lua flags=allow-oom
-- Renews a lock that this attempt still holds. A full server does it too.
-- KEYS: `~fence` of every name, then every name of the lock.
-- ARGV: the holder's name, the attempt, the TTL in ms, how many may hold it at once, how many fences there are.
-- Returns 1, or 0 if the lock is not held any more.
local ttl, member = tonumber(ARGV[3]), ARGV[1] .. ' ' .. ARGV[2]
local fences = tonumber(ARGV[5])
if tonumber(ARGV[4]) > 1 then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for at = fences + 1, #KEYS do
    if tonumber(redis.call('ZSCORE', KEYS[at], member) or 0) <= now then return 0 end
  end
  for at = fences + 1, #KEYS do
    redis.call('ZADD', KEYS[at], now + ttl, member)
    redis.call('PEXPIRE', KEYS[at], ttl, 'GT')
  end
else
  -- A plan removes the fence of an old name; whoever took one of the names since has left its own.
  local owned = false
  for at = 1, fences do
    local owner = string.match(redis.call('GET', KEYS[at]) or '', '^%d+ (.*)$')
    if owner == ARGV[2] then owned = true elseif owner then return 0 end
  end
  if not owned then return 0 end
  for at = fences + 1, #KEYS do
    if redis.call('GET', KEYS[at]) ~= ARGV[1] then return 0 end
  end
  for at = fences + 1, #KEYS do redis.call('PEXPIRE', KEYS[at], ttl) end
end
for at = 1, fences do redis.call('PEXPIRE', KEYS[at], ttl + 86400000, 'GT') end
return 1
