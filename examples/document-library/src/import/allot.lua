-- Writes new elements under the first free numbers of their names, and notes them in the list of what belongs to the file.
-- KEYS: 2 that list. ARGV: 3 the bound of that list, 4 the highest number; then for each element: its prefix, its
--   identifier, the first number to try, its parent (a key, `@n` for the nth of these elements, or nothing), how many
--   arguments follow, and these: its fields.
-- Returns the numbers; 0 for the first element whose name has no number left, and nothing for those after it.
local elements, bound, highest = KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local at, last, numbers, keys = 5, #ARGV, {}, {}
local has = redis.call('SCARD', elements)
while at <= last do
  local name, number, parent = ARGV[at] .. ':' .. ARGV[at + 1] .. ':', tonumber(ARGV[at + 2]), ARGV[at + 3]
  local count = tonumber(ARGV[at + 4])
  while number <= highest and redis.call('EXISTS', name .. string.format('%03d', number)) == 1 do
    number = number + 1
  end
  if number > highest then
    numbers[#numbers + 1] = 0
    return numbers
  end
  if has + #keys >= bound then return redis.error_reply('FULL ' .. elements) end
  local key = name .. string.format('%03d', number)
  keys[#keys + 1] = key
  numbers[#numbers + 1] = number
  redis.call('SADD', elements, key)
  redis.call('HSET', key, unpack(ARGV, at + 5, at + 4 + count))
  if parent ~= '' then
    local of = string.match(parent, '^@(%d+)$')
    redis.call('HSET', key, 'parent', of and keys[tonumber(of)] or parent)
  end
  at = at + 5 + count
end
return numbers
