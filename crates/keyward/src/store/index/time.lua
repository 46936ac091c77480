-- The server's time, in microseconds since 1970.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

-- Gives a key its TTL in ms, if it has one; one that is running stays if so declared.
local function live(key, ttl, keep)
  if ttl == '0' or (keep == '1' and redis.call('PTTL', key) > 0) then return end
  redis.call('PEXPIRE', key, ttl)
end
