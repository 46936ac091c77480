-- Starts the TTL of a key again, and tells its indexes. KEYS: key, indexes. ARGV: TTL in ms, the name that indexes know,
--   ms by which a stale copy outlives the key.
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then return 0 end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = tonumber(ARGV[1]) + tonumber(ARGV[3])
for at = 2, #KEYS do
  local rest = redis.call('PTTL', KEYS[at])
  redis.call('ZADD', KEYS[at], 'GT', string.format('%.0f', now + last), ARGV[2])
  if rest ~= -1 and rest < last then redis.call('PEXPIRE', KEYS[at], string.format('%.0f', last)) end
end
return 1
