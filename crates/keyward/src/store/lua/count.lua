-- Adds to a number within bounds. KEYS: key, its other names during a migration, its indexes.
-- ARGV: by, lowest or '', highest or '', TTL in ms (0: none), whether the TTL starts again with every write (1) or
-- only with the first (0), how many of the other names are only written (they come first), how many indexes there
-- are, and the name that they know.
-- Returns whether it was added, and the number. Numbers are compared as integers of 64 bits: Lua's own
-- end at 2^53.
local function below(a, b)
  local na, nb = a:sub(1, 1) == '-', b:sub(1, 1) == '-'
  if na ~= nb then return na end
  if na then a, b = b:sub(2), a:sub(2) end
  if #a ~= #b then return #a < #b end
  return a < b
end
local names = #KEYS - tonumber(ARGV[7])
for at = 2 + tonumber(ARGV[6]), names do
  if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('COPY', KEYS[at], KEYS[1]) end
end
local before = redis.call('GET', KEYS[1])
local low, high = ARGV[2], ARGV[3]
local after = redis.pcall('INCRBY', KEYS[1], ARGV[1])
local overflows = type(after) == 'table' and after.err and after.err:find('overflow', 1, true)
if type(after) == 'table' and not overflows then return after end
-- A key without a TTL was written by somebody else: it would never start again, not even if nothing is counted.
if ARGV[4] ~= '0' and redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
if overflows then
  -- What does not fit in 64 bits is beyond every bound.
  local bound = high
  if ARGV[1]:sub(1, 1) == '-' then bound = low end
  if bound ~= '' then return {0, before or '0'} end
  return after
end
local text = redis.call('GET', KEYS[1])
if (low ~= '' and below(text, low)) or (high ~= '' and below(high, text)) then
  if before then
    redis.call('SET', KEYS[1], before, 'KEEPTTL')
  else
    redis.call('DEL', KEYS[1])
  end
  return {0, before or '0'}
end
if ARGV[4] ~= '0' and (not before or ARGV[5] == '1') then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
for at = 2, names do redis.call('COPY', KEYS[1], KEYS[at], 'REPLACE') end
if names < #KEYS then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local live = redis.call('PTTL', KEYS[1])
  for at = names + 1, #KEYS do
    redis.call('ZREMRANGEBYSCORE', KEYS[at], '-inf', now)
    local rest = redis.call('PTTL', KEYS[at])
    if live >= 0 then
      redis.call('ZADD', KEYS[at], 'GT', string.format('%.0f', now + live), ARGV[8])
      if rest ~= -1 and rest < live then redis.call('PEXPIRE', KEYS[at], live) end
    else
      redis.call('ZADD', KEYS[at], '+inf', ARGV[8])
      redis.call('PERSIST', KEYS[at])
    end
  end
end
return {1, text}
