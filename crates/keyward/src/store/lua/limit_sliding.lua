-- Two neighbouring windows, the older one counted by the share of it that is still in sight.
-- KEYS: key (a hash: window number, count, count of the window before). ARGV: limit, window in ms, cost.
-- Returns allowed, remaining, ms until a request of this cost would be allowed, ms until all is free.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local number = math.floor(now / window)
local stored = redis.call('HMGET', KEYS[1], 'w', 'c', 'p')
local count, before = 0, 0
if stored[1] then
  local age = number - tonumber(stored[1])
  if age == 0 then
    count, before = tonumber(stored[2]), tonumber(stored[3])
  elseif age == 1 then
    before = tonumber(stored[2])
  end
end
local into = now - number * window
local used = count + before * (window - into) / window
local reset = window - into
if count > 0 then reset = reset + window end
if used + cost > limit then
  local retry
  if count + cost <= limit then
    -- Enough of the older window must have gone out of sight.
    retry = math.ceil(window - (limit - cost - count) * window / before) - into
  else
    -- Only in the next window, when enough of this one has.
    retry = window - into
    if cost <= limit and count > limit - cost then
      retry = retry + math.ceil(window - (limit - cost) * window / count)
    end
  end
  return {0, math.max(math.floor(limit - used), 0), math.max(retry, 1), reset}
end
redis.call('HSET', KEYS[1], 'w', string.format('%.0f', number), 'c', count + cost, 'p', before)
redis.call('PEXPIRE', KEYS[1], 2 * window)
return {1, math.max(math.floor(limit - used - cost), 0), 0, 2 * window - into}
