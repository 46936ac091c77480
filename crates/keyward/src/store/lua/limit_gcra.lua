-- The generic cell rate algorithm: requests are spread evenly, with bursts up to the limit.
-- KEYS: key (the time in µs at which all is free again). ARGV: limit, window in ms, cost.
-- Returns allowed, remaining, ms until a request of this cost would be allowed, ms until all is free.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]) * 1000, tonumber(ARGV[3])
local each = window / limit
local free = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local after = free + each * cost
local wait = after - window - now
if wait > 0 then
  local remaining = math.floor((window - (free - now)) / each)
  return {0, math.max(remaining, 0), math.ceil(wait / 1000), math.ceil((free - now) / 1000)}
end
local left = math.ceil((after - now) / 1000)
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.max(left, 1))
return {1, math.floor((window - (after - now)) / each), 0, left}
