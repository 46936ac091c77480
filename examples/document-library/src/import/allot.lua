-- Writes new elements under the first free numbers of their names, and notes them in the list of what belongs to the file.
-- KEYS: 2 that list. ARGV: 3 the bound of that list, 4 the highest number; then for each element: its key with the first
--   number to try; its parent, a key or `@n` for the nth of these elements; and what it is with the values of its fields:
--   `heading`, title, heading, hash, position; `chunk`, text, hash, position; `document`, how many arguments follow, and
--   these: fields and values.
-- Returns the numbers; 0 for the first element whose name has no number left, and nothing for those after it.
local elements, bound, highest = KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local at, last, numbers, keys, count, given = 5, #ARGV, {}, {}, 0, {}
local room, full = bound - redis.call('SCARD', elements), false
while at <= last do
  local key, parent, shape = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local number = tonumber(string.sub(key, -3))
  if redis.call('EXISTS', key) == 1 then
    local name = string.sub(key, 1, -4)
    number = math.max(number, given[name] or 0)
    repeat
      number = number + 1
      key = name .. string.format('%03d', number)
    until number > highest or redis.call('EXISTS', key) == 0
    given[name] = number
  end
  if number > highest then
    numbers[count + 1] = 0
    break
  end
  full = count >= room
  if full then break end
  count = count + 1
  keys[count] = key
  numbers[count] = number
  if string.sub(parent, 1, 1) == '@' then parent = keys[tonumber(string.sub(parent, 2))] end
  if shape == 'chunk' then
    redis.call('HSET', key, 'parent', parent, 'text', ARGV[at + 3], 'content_hash', ARGV[at + 4], 'position', ARGV[at + 5])
    at = at + 6
  elseif shape == 'heading' then
    redis.call('HSET', key, 'parent', parent, 'title', ARGV[at + 3], 'heading', ARGV[at + 4],
      'content_hash', ARGV[at + 5], 'position', ARGV[at + 6])
    at = at + 7
  else
    local fields = tonumber(ARGV[at + 3])
    redis.call('HSET', key, unpack(ARGV, at + 4, at + 3 + fields))
    at = at + 4 + fields
  end
end
if count > 0 then redis.call('SADD', elements, unpack(keys)) end
if full then return redis.error_reply('FULL ' .. elements) end
return numbers
