-- Gives a document its place among all documents, in the order of their paths, or takes it away; with its links and
-- those of its neighbours, in one step, so that nobody sees half of it and no lock of a neighbour is needed.
-- KEYS: 2 the paths of all documents, 3 the document of this path. ARGV: 3 the path, 4 the document, or nothing to
--   take it away, 5 how many siblings on each side, 6 the bound of the paths.
local paths, own, path, document, reach = KEYS[2], KEYS[3], ARGV[3], ARGV[4], tonumber(ARGV[5])
local before = redis.call('GET', own)
local rank = redis.call('ZRANK', paths, path)
local function found(from, to, step)
  local documents = {}
  if to < from then return documents end
  for _, other in ipairs(redis.call('ZRANGE', paths, from, to)) do
    local key = redis.call('GET', 'source:' .. redis.sha1hex(other) .. ':doc')
    if key then table.insert(documents, step < 0 and 1 or #documents + 1, key) end
  end
  return documents
end
local function link(key, name, to)
  if not key then return end
  if to then redis.call('SET', key .. name, to) else redis.call('DEL', key .. name) end
end
local function pairs_at(left, right, distance, command)
  for i = 1, math.min(#left, distance - 1) do
    local l, r = left[i], right[distance - i]
    if r then
      redis.call(command, l .. ':siblings', r)
      redis.call(command, r .. ':siblings', l)
    end
  end
end
local function forget(key, left, right)
  for _, side in ipairs({left, right}) do
    for _, other in ipairs(side) do redis.call('SREM', other .. ':siblings', key) end
  end
  redis.call('DEL', key .. ':siblings', key .. ':next', key .. ':previous')
end

if document ~= '' and not rank then
  if redis.call('ZCARD', paths) >= tonumber(ARGV[6]) then return redis.error_reply('FULL ' .. paths) end
  redis.call('ZADD', paths, 0, path)
  rank = redis.call('ZRANK', paths, path)
end
if not rank then return 0 end
-- The nearest first, on both sides.
local left = found(math.max(rank - reach, 0), rank - 1, -1)
local right = found(rank + 1, rank + reach, 1)
if before and before ~= document then forget(before, left, right) end
if document == '' then
  redis.call('ZREM', paths, path)
  redis.call('DEL', own)
  -- Those that stood one place too far apart.
  pairs_at(left, right, reach + 1, 'SADD')
  link(left[1], ':next', right[1])
  link(right[1], ':previous', left[1])
  return 1
end
redis.call('SET', own, document)
pairs_at(left, right, reach + 1, 'SREM')
for _, side in ipairs({left, right}) do
  for _, other in ipairs(side) do
    redis.call('SADD', document .. ':siblings', other)
    redis.call('SADD', other .. ':siblings', document)
  end
end
link(document, ':next', right[1])
link(document, ':previous', left[1])
link(left[1], ':next', document)
link(right[1], ':previous', document)
return 1
