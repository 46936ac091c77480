-- A window that starts with the first request. KEYS: key. ARGV: limit, window in ms, cost.
-- Returns allowed, remaining, ms until a request of this cost would be allowed, ms until it starts again.
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local left = redis.call('PTTL', KEYS[1])
-- A key without a TTL was written by somebody else: it would never start again.
if left < 0 then
  used, left = 0, tonumber(ARGV[2])
end
local limit, cost = tonumber(ARGV[1]), tonumber(ARGV[3])
if used + cost > limit then
  return {0, math.max(limit - used, 0), left, left}
end
redis.call('SET', KEYS[1], string.format('%.0f', used + cost), 'PX', left)
return {1, limit - used - cost, 0, left}
