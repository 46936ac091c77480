-- Releases a lock that this attempt holds, or ends its waiting. It needs no memory, so that a full server does it too.
-- KEYS: `~fence` of every name; where waiters come first `~waiters` and `~alive`; then every name of the lock.
-- ARGV: the holder's name, the attempt, how many may hold it at once, 1 if waiters come first, how many fences there are.
-- Returns 1 if it was held until now, otherwise 0.
local fences = tonumber(ARGV[5])
local first = fences + 1
if ARGV[4] == '1' then
  redis.call('ZREM', KEYS[first], ARGV[2])
  redis.call('ZREM', KEYS[first + 1], ARGV[2])
  first = first + 2
end
local held = 0
if tonumber(ARGV[3]) > 1 then
  local member = ARGV[1] .. ' ' .. ARGV[2]
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for at = first, #KEYS do
    if tonumber(redis.call('ZSCORE', KEYS[at], member) or 0) > now then held = 1 end
    redis.call('ZREM', KEYS[at], member)
  end
  return held
end
-- A plan removes the fence of an old name; whoever took one of the names since has left its own.
local owned = false
for at = 1, fences do
  local owner = string.match(redis.call('GET', KEYS[at]) or '', '^%d+ (.*)$')
  if owner == ARGV[2] then owned = true elseif owner then return 0 end
end
if not owned then return 0 end
for at = first, #KEYS do
  if redis.call('GET', KEYS[at]) == ARGV[1] then
    redis.call('DEL', KEYS[at])
    held = 1
  end
end
return held
