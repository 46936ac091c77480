-- The version of a change: later than every one before it that is known beside this name, than the newest that other
-- slots had (the floor), and than the clock. Names of other slots get it with their copy, and an older copy never
-- replaces a newer one. It is kept for an hour, which is longer than a copy is under way. The last bit says whose clock
-- it was: no two slots make the same version.
local function stamp(key, clock, floor)
  local time = redis.call('TIME')
  local last = math.max(tonumber(redis.call('GET', key) or 0) or 0, tonumber(floor))
  local now = math.max(tonumber(time[1]) * 1000000 + tonumber(time[2]), math.floor(last / 2) + 1)
  local version = string.format('%.0f', now * 2 + tonumber(clock))
  redis.call('SET', key, version, 'PX', 3600000)
  return version
end
