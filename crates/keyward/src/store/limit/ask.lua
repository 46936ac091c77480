-- Asks limits, and counts a request in all of them if each allows it: if one refuses, none counts.
-- KEYS: the keys of the limits. ARGV: 1 to count, 0 to look only; then for each key its algorithm, its limit, its window
--   in ms and what the request costs.
-- Returns for each: whether it allows, how many more it allows, ms until a request of this cost would be allowed, ms until
--   nothing that was counted counts any more. Otherwise the number of the key that is not a limit's: negative if it has
--   another type.
local function micros()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- Each algorithm gives what holds now (remaining, retry, reset) and, if the request is allowed, what holds once it is
-- counted (remaining, reset, value, TTL). Nothing at all if the key does not hold what the algorithm writes.
local algorithms = {}

-- A window that starts with the first request. The key holds what was counted.
algorithms['fixed-window'] = function(key, stored, limit, window, cost)
  local used, left = tonumber(string.match(stored or '0', '^%d+$')), redis.call('PTTL', key)
  if not used then return end
  local reset = left
  -- Nothing was counted, the window ends this moment, or somebody else wrote the key without a TTL: it would never end.
  if left <= 0 then used, left, reset = 0, window, 0 end
  local now = {limit - used, left, reset}
  local after = used + cost
  if after > limit then return now end
  return now, {limit - after, left, string.format('%.0f', after), left}
end

-- Two neighbouring windows, the older one counted by the share of it that is still in sight. The key holds the number of
-- the window, what was counted in it, and what was counted in the one before.
algorithms['sliding-window'] = function(_, stored, limit, window, cost)
  local millis = math.floor(micros() / 1000)
  local number = math.floor(millis / window)
  local count, before = 0, 0
  if stored then
    local last, counted, earlier = string.match(stored, '^(%d+) (%d+) (%d+)$')
    if not last then return end
    local age = number - tonumber(last)
    -- What was counted before the server's clock was set back still counts.
    if age <= 0 then
      count, before = tonumber(counted), tonumber(earlier)
    elseif age == 1 then
      before = tonumber(counted)
    end
  end
  local into = millis - number * window
  local used = count + before * (window - into) / window
  local reset = 0
  if count > 0 then reset = 2 * window - into elseif before > 0 then reset = window - into end
  if used + cost > limit then
    local retry
    if count + cost <= limit then
      -- Enough of the older window must have gone out of sight.
      retry = math.ceil(window - (limit - cost - count) * window / before) - into
    else
      -- Only in the next window, when enough of this one has. What costs more than the limit is told so by the store.
      retry = window - into + math.ceil(window - (limit - cost) * window / math.max(count, 1))
    end
    return {math.floor(limit - used), retry, reset}
  end
  local value = string.format('%.0f %.0f %.0f', number, count + cost, before)
  return {math.floor(limit - used), 0, reset},
    {math.floor(limit - used - cost), 2 * window - into, value, 2 * window}
end

-- The generic cell rate algorithm: requests are spread evenly, with bursts up to the limit. The key holds the time in µs
-- at which all is free again, rounded up: rounded down, a limit of millions a second would never fill.
algorithms['gcra'] = function(_, stored, limit, window, cost)
  local free = tonumber(string.match(stored or '0', '^%d+$'))
  if not free then return end
  window = window * 1000
  local micros = micros()
  -- Further ahead than a window only if the server's clock was set back.
  free = math.min(math.max(free, micros), micros + window)
  local each = window / limit
  -- What rounding up took does not make a whole request.
  local function remaining(busy) return math.floor((window - busy) / each + 0.001) end
  local after = free + each * cost
  local wait = after - window - micros
  local now = {remaining(free - micros), math.ceil(wait / 1000), math.ceil((free - micros) / 1000)}
  if wait > 0 then return now end
  local reset = math.ceil((after - micros) / 1000)
  return now, {remaining(after - micros), reset, string.format('%.0f', math.ceil(after)), math.max(reset, 1)}
end

local asked, all = {}, true
for at, key in ipairs(KEYS) do
  local algorithm, limit, window, cost = unpack(ARGV, 4 * at - 2, 4 * at + 1)
  local stored = redis.pcall('GET', key)
  if type(stored) == 'table' then return -at end
  local now, after = algorithms[algorithm](key, stored, tonumber(limit), tonumber(window), tonumber(cost))
  if not now then return at end
  asked[at] = {now, after}
  all = all and after ~= nil
end
local counts = ARGV[1] == '1' and all
local answers = {}
for at, key in ipairs(KEYS) do
  local now, after = unpack(asked[at], 1, 2)
  local answer
  if counts then
    redis.call('SET', key, after[3], 'PX', after[4])
    answer = {1, after[1], 0, after[2]}
  elseif after then
    answer = {1, now[1], 0, now[3]}
  else
    answer = {0, now[1], math.max(now[2], 1), now[3]}
  end
  answer[2] = math.max(answer[2], 0)
  answers[at] = answer
end
return answers
