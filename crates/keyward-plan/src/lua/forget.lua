-- Removes what names somebody from one value, or looks for it.
-- KEYS: the key. ARGV: 1 to do it and 0 to look; where: field, text, set, zset or list; the field; what names them.
-- Returns what was found, or -1 if the key has another type. A field that must be there and a text stay: their key is removed as a
-- whole, by another step.
local kinds = { field = 'hash', optional = 'hash', text = 'string', set = 'set', zset = 'zset', list = 'list' }
local key, act, where, field = KEYS[1], ARGV[1] == '1', ARGV[2], ARGV[3]
local kind = redis.call('TYPE', key).ok
if kind == 'none' then return {} end
if kind ~= kinds[where] then return -1 end
local value
if kind == 'hash' then value = redis.call('HGET', key, field) end
if kind == 'string' then value = redis.call('GET', key) end
local found = {}
for at = 4, #ARGV do
  local wanted = ARGV[at]
  local is_there
  if kind == 'set' then is_there = redis.call('SISMEMBER', key, wanted) == 1
  elseif kind == 'zset' then is_there = redis.call('ZSCORE', key, wanted)
  elseif kind == 'list' then is_there = redis.call('LPOS', key, wanted)
  else is_there = value == wanted end
  if is_there then
    found[#found + 1] = wanted
    if act and where == 'set' then redis.call('SREM', key, wanted)
    elseif act and where == 'zset' then redis.call('ZREM', key, wanted)
    elseif act and where == 'list' then redis.call('LREM', key, 0, wanted)
    elseif act and where == 'optional' then redis.call('HDEL', key, field) end
  end
end
return found
