-- Takes a lock, or says that it is taken. A holder that asks again, since its answer was lost, gets it again.
-- KEYS: `~fence` of every name; where waiters come first `~waiters` and `~alive`; then every name of the lock.
-- ARGV: the holder's name, the id of this attempt, the TTL in ms, the lowest fence, how many may hold it at once,
--   1 if waiters come first, how long a waiter keeps its turn without asking again, in ms (0: it does not wait), how many
--   fences there are.
-- Returns {fence}, or {0, waiters before this one}.
--
-- A lock with one place is a string, the holder's name; `~fence` has the last fence and the attempt that got it. Programs
-- that know one of the names only look at its fence, so that each name has one.
-- A lock with several is a sorted set of holders' names and attempts, by when they expire.
local holder, attempt, ttl, places = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5])
local fair, patience = ARGV[6] == '1', tonumber(ARGV[7])
local fences = tonumber(ARGV[8])
local first = fences + (fair and 3 or 1)
local waiters, alive = KEYS[fences + 1], KEYS[fences + 2]
local member = holder .. ' ' .. attempt
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
local last, owned, lost = 0, false, false
for at = 1, fences do
  local fence, owner = string.match(redis.call('GET', KEYS[at]) or '', '^(%d+) (.*)$')
  last = math.max(last, tonumber(fence) or 0)
  if owner == attempt then owned = true elseif owner then lost = true end
end

local free, ours = true, true
for at = first, #KEYS do
  if places > 1 then
    redis.call('ZREMRANGEBYSCORE', KEYS[at], '-inf', now)
    free = free and redis.call('ZCARD', KEYS[at]) < places
    ours = ours and redis.call('ZSCORE', KEYS[at], member)
  else
    local value = redis.call('GET', KEYS[at])
    free = free and not value
    ours = ours and owned and not lost and value == holder
  end
end

local before = 0
if fair then
  for _, gone in ipairs(redis.call('ZRANGE', alive, '-inf', now, 'BYSCORE')) do
    redis.call('ZREM', waiters, gone)
    redis.call('ZREM', alive, gone)
  end
  before = redis.call('ZRANK', waiters, attempt) or redis.call('ZCARD', waiters)
end

if not ours and (not free or before > 0) then
  if fair and patience > 0 then
    redis.call('ZADD', waiters, 'NX', micros, attempt)
    redis.call('ZADD', alive, now + patience, attempt)
    redis.call('PEXPIRE', waiters, patience)
    redis.call('PEXPIRE', alive, patience)
  end
  return {'0', before}
end

local fence = string.format('%.0f', math.max(micros, last + 1, tonumber(ARGV[4])))
for at = first, #KEYS do
  if places > 1 then
    redis.call('ZADD', KEYS[at], now + ttl, member)
    if redis.call('PTTL', KEYS[at]) < ttl then redis.call('PEXPIRE', KEYS[at], ttl) end
  else
    redis.call('SET', KEYS[at], holder, 'PX', ttl)
  end
end
-- A day longer than the lock: fences that started again below the last one would let a stale holder through.
for at = 1, fences do redis.call('SET', KEYS[at], fence .. ' ' .. attempt, 'PX', ttl + 86400000) end
if fair then
  redis.call('ZREM', waiters, attempt)
  redis.call('ZREM', alive, attempt)
end
return {fence}
