-- Brings back what was trimmed from a collection, if the collection is what trimming left.
-- KEYS: the collection. ARGV: its type; first or last for the end that stayed; how many entries stayed; the digest of
--   their ends; the entries that went, as trim.lua answers.
-- Returns 0 gone, 1 done, 2 the same already, 3 it was changed since.
local EDGE = 10
local LENGTH = { list = 'LLEN', zset = 'ZCARD', stream = 'XLEN' }
local key, kind, stayed, left = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local now = redis.call('TYPE', key).ok
if now == 'none' then return 0 end
if now ~= kind then return 3 end
local gone, ids = {}, {}
for at = 5, #ARGV do gone[#gone + 1] = ARGV[at] end
if kind == 'stream' then
  local at = 1
  while at <= #gone do
    ids[#ids + 1] = gone[at]
    at = at + 2 + tonumber(gone[at + 1])
  end
end
local count = kind == 'stream' and #ids or kind == 'zset' and #gone / 2 or #gone
local length, edge = redis.call(LENGTH[kind], key), math.min(EDGE, left)
local function range(from, many)
  if kind == 'list' then return redis.call('LRANGE', key, from, from + many - 1) end
  if kind == 'zset' then return redis.call('ZRANGE', key, from, from + many - 1, 'WITHSCORES') end
  local found = {}
  for _, entry in ipairs(redis.call('XRANGE', key, '-', '+', 'COUNT', many)) do found[#found + 1] = entry[1] end
  return found
end
if length == left + count then
  local there = range((kind == 'stream' or stayed == 'last') and 0 or left, count)
  if cmsgpack.pack(there) == cmsgpack.pack(kind == 'stream' and ids or gone) then return 2 end
end
if length ~= left then return 3 end
local edges
if kind == 'stream' then
  edges = range(0, edge)
  for _, entry in ipairs(redis.call('XREVRANGE', key, '+', '-', 'COUNT', edge)) do edges[#edges + 1] = entry[1] end
else
  edges = { range(0, edge), range(left - edge, edge) }
end
if redis.sha1hex(cmsgpack.pack(edges)) ~= ARGV[4] then return 3 end
if kind == 'list' then
  for at = 1, count do
    if stayed == 'last' then redis.call('LPUSH', key, gone[count + 1 - at]) else redis.call('RPUSH', key, gone[at]) end
  end
elseif kind == 'zset' then
  for at = 1, #gone, 2 do redis.call('ZADD', key, gone[at + 1], gone[at]) end
else
  -- Ids only grow: the stream is written again. Who reads it in a group would read all of it again.
  if #redis.call('XINFO', 'GROUPS', key) > 0 then return 3 end
  local info, about = redis.call('XINFO', 'STREAM', key), {}
  for at = 1, #info, 2 do about[info[at]] = info[at + 1] end
  local ends, rest = redis.call('PEXPIRETIME', key), redis.call('XRANGE', key, '-', '+')
  redis.call('DEL', key)
  local at = 1
  while at <= #gone do
    local last = at + 1 + tonumber(gone[at + 1])
    redis.call('XADD', key, gone[at], unpack(gone, at + 2, last))
    at = last + 1
  end
  for _, entry in ipairs(rest) do redis.call('XADD', key, entry[1], unpack(entry[2])) end
  redis.call('XSETID', key, about['last-generated-id'], 'ENTRIESADDED', about['entries-added'],
    'MAXDELETEDID', about['max-deleted-entry-id'])
  if ends ~= -1 then redis.call('PEXPIREAT', key, string.format('%.0f', ends)) end
end
return 1
