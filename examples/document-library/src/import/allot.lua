-- Writes new elements under the first free numbers of their names, and notes them in the list of what belongs to the file.
-- KEYS: 2 that list. ARGV: 3 the bound of that list, 4 the highest number; then for each element: its prefix, its
--   identifier, the first number to try, its parent (a key, `@n` for the nth of these elements, or nothing), how many
--   arguments follow, and these: its fields.
-- Returns the numbers; 0 for the first element whose name has no number left, and nothing for those after it.
local elements, bound, highest = KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local at, last, numbers, keys = 5, #ARGV, {}, {}
local has, full = redis.call('SCARD', elements), false
while at <= last do
  local name, number, parent = ARGV[at] .. ':' .. ARGV[at + 1] .. ':', tonumber(ARGV[at + 2]), ARGV[at + 3]
  local from, to = at + 5, at + 4 + tonumber(ARGV[at + 4])
  local key = name .. string.format('%03d', number)
  while number <= highest and redis.call('EXISTS', key) == 1 do
    number = number + 1
    key = name .. string.format('%03d', number)
  end
  if number > highest then
    numbers[#numbers + 1] = 0
    break
  end
  full = has + #keys >= bound
  if full then break end
  keys[#keys + 1] = key
  numbers[#numbers + 1] = number
  if string.sub(parent, 1, 1) == '@' then parent = keys[tonumber(string.sub(parent, 2))] end
  if parent == '' then redis.call('HSET', key, unpack(ARGV, from, to))
  else redis.call('HSET', key, 'parent', parent, unpack(ARGV, from, to)) end
  at = to + 1
end
if #keys > 0 then redis.call('SADD', elements, unpack(keys)) end
if full then return redis.error_reply('FULL ' .. elements) end
return numbers
