-- Starts the TTL of a key again under all its names in one slot, and tells its indexes.
-- KEYS: the name that was read, its other names, indexes. ARGV: how many names, TTL in ms, the name that indexes know, ms
--   by which a stale copy outlives the key.
-- Returns when it expires; 0 if it is not there.
local names = tonumber(ARGV[1])
if redis.call('PEXPIRE', KEYS[1], ARGV[2]) == 0 then return 0 end
local ends = redis.call('PEXPIRETIME', KEYS[1])
for at = 2, names do redis.call('PEXPIREAT', KEYS[at], ends) end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = tonumber(ARGV[2]) + tonumber(ARGV[4])
for at = names + 1, #KEYS do
  local rest = redis.call('PTTL', KEYS[at])
  redis.call('ZADD', KEYS[at], 'GT', string.format('%.0f', now + last), ARGV[3])
  if rest ~= -1 and rest < last then redis.call('PEXPIRE', KEYS[at], string.format('%.0f', last)) end
end
return ends
