-- Writes one key in one step: its value and its TTL, within its bound, under all its names.
-- KEYS: the key, then what ARGV[1] says, in its order.
-- ARGV: the roles of the other keys (other: another name, copy: one that is only written, ended: what stands beside one
--   of these and ends with a write, lease, stale, none, refresh, version, index), separated by commas; mode; TTL in ms (0: none); 1 to keep a TTL that is running; token of the lease; ms by which a stale copy outlives the key;
--   longest length (0: any); 1 to refuse what does not fit; the type; the name that indexes know; 1 if reads
--   start the TTL again; the clock of the version; then the commands, each as the number of its arguments, its name and
--   its arguments; and with a version, its floor.
-- Modes: whole (replaces), part (adds to it), present (only if there is one), absent (only if there is none),
--   none (there is none, and that is remembered for the TTL).
-- Returns {1, answers of the commands} and, where names of other slots follow, what they are to hold, {0} if nothing was written, {-1} if it does not fit.
local key, mode, ttl, token = KEYS[1], ARGV[2], tonumber(ARGV[3]), ARGV[5]
local max, kind = tonumber(ARGV[7]), ARGV[9]
local others, copies, ended, indexes = {}, {}, {}, {}
local lease, stale, none, due, version = nil, nil, nil, nil, nil
local at = 2
for role in string.gmatch(ARGV[1], '[^,]+') do
  if role == 'other' then others[#others + 1] = KEYS[at]
  elseif role == 'copy' then copies[#copies + 1] = KEYS[at]
  elseif role == 'ended' then ended[#ended + 1] = KEYS[at]
  elseif role == 'version' then version = KEYS[at]
  elseif role == 'index' then indexes[#indexes + 1] = KEYS[at]
  elseif role == 'lease' then lease = KEYS[at]
  elseif role == 'stale' then stale = KEYS[at]
  elseif role == 'none' then none = KEYS[at]
  elseif role == 'refresh' then due = KEYS[at] end
  at = at + 1
end

if token ~= '' then
  -- A fill: not after an invalidation, and not over what was written since the lease was taken. See `lease.lua`.
  local held = redis.call('GET', lease)
  if not held or held:sub(1, #token) ~= token then return {0} end
  if redis.call('EXISTS', key) == 1 then
    local seen = redis.call('PEXPIRETIME', key)
    if seen == -1 or ARGV[11] == '1' then seen = redis.sha1hex(redis.call('DUMP', key)) end
    if held ~= token .. seen then
      redis.call('DEL', lease)
      return {0}
    end
  end
  -- An index that was evicted since then has led no event to the lease.
  for _, index in ipairs(indexes) do
    if not redis.call('ZSCORE', index, ARGV[10]) then
      redis.call('DEL', lease)
      return {0}
    end
  end
elseif lease then
  -- Whoever is loading has read what is old by now.
  redis.call('DEL', lease)
end
for _, name in ipairs(ended) do redis.call('DEL', name) end

-- What changes a part of a value finds it under its new name, wherever it was.
if mode == 'part' or mode == 'present' then
  for _, other in ipairs(others) do
    if redis.call('EXISTS', key) == 0 then redis.call('COPY', other, key) end
  end
end
if mode == 'absent' then
  for _, other in ipairs(others) do
    if redis.call('EXISTS', other) == 1 then return {0} end
  end
end
local left = redis.call('PTTL', key)
if (mode == 'present' and left == -2) or (mode == 'absent' and left ~= -2) then return {0} end

local commands = {}
at = 13
local last = #ARGV
if version then last = last - 1 end
while at <= last do
  local count = tonumber(ARGV[at])
  commands[#commands + 1] = {at + 1, at + count}
  at = at + count + 1
end

-- How many elements the commands would add to what stays, each counted once.
local function growth()
  local grown, given, stays = 0, {}, mode ~= 'whole'
  local function count(element, command)
    if not given[element] and not (stays and redis.call(command, key, element) == 1) then grown = grown + 1 end
    given[element] = true
  end
  for _, range in ipairs(commands) do
    local name, from, to = ARGV[range[1]], range[1] + 1, range[2]
    if name == 'SADD' then
      for i = from, to do count(ARGV[i], 'SISMEMBER') end
    elseif name == 'ZADD' or name == 'ZINCRBY' then
      for i = from + 1, to, 2 do
        if not given[ARGV[i]] and not (stays and redis.call('ZSCORE', key, ARGV[i])) then grown = grown + 1 end
        given[ARGV[i]] = true
      end
    elseif name == 'ZREACH' then
      for i = from + 3, to, 2 do
        if not given[ARGV[i]] and not (stays and redis.call('ZSCORE', key, ARGV[i])) then grown = grown + 1 end
        given[ARGV[i]] = true
      end
    elseif name == 'HSET' then
      for i = from, to, 2 do count(ARGV[i], 'HEXISTS') end
    elseif name == 'RPUSH' or name == 'LPUSH' then
      grown = grown + to - from + 1
    elseif name == 'XADD' then
      grown = grown + 1
    end
  end
  return grown
end

local lengths = {list = 'LLEN', set = 'SCARD', zset = 'ZCARD', hash = 'HLEN', stream = 'XLEN'}
local bounded = max > 0 and lengths[kind]
if bounded and ARGV[8] == '1' then
  local before = 0
  if mode ~= 'whole' and mode ~= 'none' and left ~= -2 then before = redis.call(lengths[kind], key) end
  local grown = growth()
  if grown > 0 and before + grown > max then return {-1} end
end

-- Sets scores ('set'; how many members are new) or adds to them ('add'; the score, or nothing if it has no room). The
-- fraction says when the score was reached, in seconds since 2026 with 30 bits: of equal scores the first ranks higher,
-- or the last. Whoever has the score already has reached it before. See `ranking.rs`.
local function reach(from, to)
  local tick = math.min(math.max(tonumber(redis.call('TIME')[1]) - 1767225600, 0), 1073741823)
  if ARGV[from] == 'first' then tick = 1073741823 - tick end
  local new, score = 0, 0
  for i = from + 2, to, 2 do
    local stored = redis.call('ZSCORE', key, ARGV[i + 1])
    local before = stored and math.floor(tonumber(stored))
    score = tonumber(ARGV[i])
    if ARGV[from + 1] == 'add' then score = score + (before or 0) end
    if math.abs(score) >= 8388608 then return false end
    if before ~= score then
      redis.call('ZADD', key, string.format('%.17g', score + tick / 1073741824), ARGV[i + 1])
    end
    if not before then new = new + 1 end
  end
  if ARGV[from + 1] == 'add' then return string.format('%.0f', score) end
  return new
end

if mode == 'whole' or mode == 'none' then redis.call('DEL', key) end
local answers = {}
for number, range in ipairs(commands) do
  -- In two steps: one `unpack` of everything would make the key the last argument.
  local name = ARGV[range[1]]
  if name == 'HPEXPIRE' then
    -- Redis before 7.4 and Valkey before 9 have no TTLs of fields: the key's own must do.
    redis.pcall(name, key, unpack(ARGV, range[1] + 1, range[2]))
    answers[number] = 0
  elseif name == 'ZREACH' then
    answers[number] = reach(range[1] + 1, range[2])
  elseif range[2] > range[1] then
    answers[number] = redis.call(name, key, unpack(ARGV, range[1] + 1, range[2]))
  else
    answers[number] = redis.call(name, key)
  end
end

if mode == 'none' then
  redis.call('SET', none, '', 'PX', ttl)
elseif ttl > 0 then
  if ARGV[4] == '1' and left > 0 then
    redis.call('PEXPIRE', key, left)
  else
    redis.call('PEXPIRE', key, ttl)
  end
end
if none and mode ~= 'none' then redis.call('DEL', none) end
-- A part of a value does not make the rest of it new.
if due and mode ~= 'part' and mode ~= 'present' then redis.call('DEL', due) end

local exists = redis.call('EXISTS', key) == 1
for _, names in ipairs({others, copies}) do
  for _, name in ipairs(names) do
    if exists then redis.call('COPY', key, name, 'REPLACE') else redis.call('DEL', name) end
  end
end
if stale then
  if exists and ttl > 0 then
    redis.call('COPY', key, stale, 'REPLACE')
    redis.call('PEXPIRE', stale, redis.call('PTTL', key) + tonumber(ARGV[6]))
  else
    redis.call('DEL', stale)
  end
end
if #indexes > 0 then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local live = redis.call('PTTL', key)
  if mode == 'none' then live = ttl end
  for _, index in ipairs(indexes) do
    redis.call('ZREMRANGEBYSCORE', index, '-inf', now)
    local rest = redis.call('PTTL', index)
    if live >= 0 then
      local last = live
      if stale then last = last + tonumber(ARGV[6]) end
      redis.call('ZADD', index, 'GT', string.format('%.0f', now + last), ARGV[10])
      if rest ~= -1 and rest < last then redis.call('PEXPIRE', index, last) end
    elseif exists then
      redis.call('ZADD', index, '+inf', ARGV[10])
      redis.call('PERSIST', index)
    else
      redis.call('ZREM', index, ARGV[10])
    end
  end
end
if token ~= '' then redis.call('DEL', lease) end
if not version then return {1, answers} end
return {1, answers, {stamp(version, ARGV[12], ARGV[#ARGV]), redis.call('PEXPIRETIME', key), redis.call('DUMP', key)}}
