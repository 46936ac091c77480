-- Removes what a collection has above its bound, at most so many entries at once, if they are what was saved.
-- KEYS: the collection. ARGV: 1 to do it and 0 to look; the type it must have, or nothing; the bound; first or last for the
--   end that stays, or nothing if none is declared; the most entries that go; the digest of what was saved.
-- Returns 0 gone, 1 done, 2 within its bound, 4 another type, 5 not saved, 8 no end to trim. Looking, it returns instead
--   of 1: how many entries are above the bound, how many stay this time, the digest of their ends, the digest of what was
--   seen, the type, and the entries that go; for a sorted set member and score in turn, for a stream id, number of texts
--   and these.
local EDGE = 10
local LENGTH = { list = 'LLEN', zset = 'ZCARD', stream = 'XLEN', set = 'SCARD', hash = 'HLEN' }
local key, max, stays = KEYS[1], tonumber(ARGV[3]), ARGV[4]
local kind = redis.call('TYPE', key).ok
if kind == 'none' then return 0 end
if not LENGTH[kind] or (ARGV[2] ~= '' and kind ~= ARGV[2]) then return 4 end
local length = redis.call(LENGTH[kind], key)
if length <= max then return 2 end
if stays == '' or kind == 'set' or kind == 'hash' then return 8 end
local goes = math.min(length - max, tonumber(ARGV[5]))
local left = length - goes
local edge = math.min(EDGE, left)
local gone, edges = {}, {}
if kind == 'stream' then
  for at, entry in ipairs(redis.call('XRANGE', key, '-', '+', 'COUNT', goes + edge)) do
    if at > goes then
      edges[#edges + 1] = entry[1]
    else
      gone[#gone + 1] = entry[1]
      gone[#gone + 1] = tostring(#entry[2])
      for _, text in ipairs(entry[2]) do gone[#gone + 1] = text end
    end
  end
  for _, entry in ipairs(redis.call('XREVRANGE', key, '+', '-', 'COUNT', edge)) do edges[#edges + 1] = entry[1] end
else
  local function range(from, count)
    if kind == 'list' then return redis.call('LRANGE', key, from, from + count - 1) end
    return redis.call('ZRANGE', key, from, from + count - 1, 'WITHSCORES')
  end
  local first = stays == 'last' and goes or 0
  gone = range(stays == 'last' and 0 or left, goes)
  edges = { range(first, edge), range(first + left - edge, edge) }
end
local seen = redis.sha1hex(cmsgpack.pack({ length, gone, edges }))
if ARGV[1] == '0' then
  local answer = { length - max, left, redis.sha1hex(cmsgpack.pack(edges)), seen, kind }
  for _, text in ipairs(gone) do answer[#answer + 1] = text end
  return answer
end
if seen ~= ARGV[6] then return 5 end
if kind == 'stream' then redis.call('XTRIM', key, 'MAXLEN', '=', left)
elseif kind == 'zset' then redis.call('ZREMRANGEBYRANK', key, stays == 'last' and 0 or left, stays == 'last' and goes - 1 or -1)
else redis.call('LTRIM', key, stays == 'last' and goes or 0, stays == 'last' and -1 or left - 1) end
return 1
