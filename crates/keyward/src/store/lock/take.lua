-- Takes a lock, or says that it is taken. A holder that asks again, since its answer was lost, gets it again.
-- KEYS: `~fence`; where waiters come first `~waiters` and `~alive`; then every name of the lock.
-- ARGV: the holder's name, the id of this attempt, the TTL in ms, the lowest fence, how many may hold it at once,
--   1 if waiters come first, how long a waiter keeps its turn without asking again, in ms (0: it does not wait).
-- Returns {fence}, or {0, waiters before this one}.
--
-- A lock with one place is a string, the holder's name; `~fence` has the last fence and the attempt that got it.
-- A lock with several is a sorted set of holders' names and attempts, by when they expire.
local holder, attempt, ttl, places = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5])
local fair, patience = ARGV[6] == '1', tonumber(ARGV[7])
local first = fair and 4 or 2
local member = holder .. ' ' .. attempt
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
local last, owner = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (.*)$')

local free, ours = true, true
for at = first, #KEYS do
  if places > 1 then
    redis.call('ZREMRANGEBYSCORE', KEYS[at], '-inf', now)
    free = free and redis.call('ZCARD', KEYS[at]) < places
    ours = ours and redis.call('ZSCORE', KEYS[at], member)
  else
    local value = redis.call('GET', KEYS[at])
    free = free and not value
    ours = ours and owner == attempt and value == holder
  end
end

local before = 0
if fair then
  for _, gone in ipairs(redis.call('ZRANGE', KEYS[3], '-inf', now, 'BYSCORE')) do
    redis.call('ZREM', KEYS[2], gone)
    redis.call('ZREM', KEYS[3], gone)
  end
  before = redis.call('ZRANK', KEYS[2], attempt) or redis.call('ZCARD', KEYS[2])
end

if not ours and (not free or before > 0) then
  if fair and patience > 0 then
    redis.call('ZADD', KEYS[2], 'NX', micros, attempt)
    redis.call('ZADD', KEYS[3], now + patience, attempt)
    redis.call('PEXPIRE', KEYS[2], patience)
    redis.call('PEXPIRE', KEYS[3], patience)
  end
  return {'0', before}
end

local fence = string.format('%.0f', math.max(micros, (tonumber(last) or 0) + 1, tonumber(ARGV[4])))
for at = first, #KEYS do
  if places > 1 then
    redis.call('ZADD', KEYS[at], now + ttl, member)
    if redis.call('PTTL', KEYS[at]) < ttl then redis.call('PEXPIRE', KEYS[at], ttl) end
  else
    redis.call('SET', KEYS[at], holder, 'PX', ttl)
  end
end
-- A day longer than the lock: fences that started again below the last one would let a stale holder through.
redis.call('SET', KEYS[1], fence .. ' ' .. attempt, 'PX', ttl + 86400000)
if fair then
  redis.call('ZREM', KEYS[2], attempt)
  redis.call('ZREM', KEYS[3], attempt)
end
return {fence}
