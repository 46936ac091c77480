-- Two neighbouring windows, the older one counted by the share of it that is still in sight.
-- KEYS: key (window number, count, count of the window before, separated by spaces). ARGV: limit, window in ms, cost.
-- Returns allowed, remaining, ms until a request of this cost would be allowed, ms until all is free.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local number = math.floor(now / window)
local stored = redis.call('GET', KEYS[1])
local count, before = 0, 0
if stored then
  local last, counted, earlier = string.match(stored, '^(%d+) (%d+) (%d+)$')
  local age = number - (tonumber(last) or 0)
  if age == 0 then
    count, before = tonumber(counted), tonumber(earlier)
  elseif age == 1 then
    before = tonumber(counted)
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
redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f', number, count + cost, before), 'PX', 2 * window)
return {1, math.max(math.floor(limit - used - cost), 0), 0, 2 * window - into}
