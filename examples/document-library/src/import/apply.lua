-- Runs steps, all or none: first it looks whether everything that is added fits.
-- ARGV: 3 the position of the first name, 4 how many names follow, and these: elements that follow each other in the document;
--   then for each step a word, how many arguments follow, and these:
--   `run` a command
--   `add` the bound of a set, the set, members
--   `link` two positions: the elements between them get `next` and `previous`, and the first and last name have none beyond
--   `siblings` how many on each side, two places, children of one parent: those between the places get `siblings`
--   `below` the bound of its sets (0: they fit), an element, two positions: what is between them is below it; then which of
--     them are its children
-- Names that stand next to each other are given once, however many elements they are below.
local names, last = 5, 4 + tonumber(ARGV[4])
local offset = names - tonumber(ARGV[3])
local steps = {}

-- How many members steps add to each set, at most.
local coming = {}
local function check(bound, set, from, to)
  local has, more = redis.call('SCARD', set) + (coming[set] or 0), to - from + 1
  if has + more > bound then
    more = 0
    for member = from, to do
      if redis.call('SISMEMBER', set, ARGV[member]) == 0 then more = more + 1 end
    end
  end
  coming[set] = (coming[set] or 0) + more
  return has + more > bound and set or nil
end

function steps.run(at, to)
  redis.call(unpack(ARGV, at, to))
end

function steps.add(at, to)
  redis.call('SADD', unpack(ARGV, at + 1, to))
end

function steps.link(at)
  local links, count = {}, 0
  for place = tonumber(ARGV[at]) + offset, tonumber(ARGV[at + 1]) + offset do
    local name = ARGV[place]
    if place < last then
      links[count + 1], links[count + 2] = name .. ':next', ARGV[place + 1]
      count = count + 2
    else
      redis.call('DEL', name .. ':next')
    end
    if place > names then
      links[count + 1], links[count + 2] = name .. ':previous', ARGV[place - 1]
      count = count + 2
    else
      redis.call('DEL', name .. ':previous')
    end
    if count >= 4000 then
      redis.call('MSET', unpack(links, 1, count))
      count = 0
    end
  end
  if count > 0 then redis.call('MSET', unpack(links, 1, count)) end
end

-- The first set is written whole. Each of the others is a copy of the one before it, with the differences: to copy a set is
-- many times faster than to be given its members.
function steps.siblings(at, to)
  local reach, from = tonumber(ARGV[at]), at + 2
  local first, others = from + tonumber(ARGV[at + 1]), from + tonumber(ARGV[at + 2])
  from = from + 1
  local set = ARGV[first] .. ':siblings'
  redis.call('UNLINK', set)
  if from < first then redis.call('SADD', set, unpack(ARGV, math.max(from, first - reach), first - 1)) end
  if first < to then redis.call('SADD', set, unpack(ARGV, first + 1, math.min(to, first + reach))) end
  for child = first + 1, others do
    local own = ARGV[child] .. ':siblings'
    redis.call('COPY', set, own, 'REPLACE')
    if child + reach <= to then redis.call('SADD', own, ARGV[child - 1], ARGV[child + reach])
    else redis.call('SADD', own, ARGV[child - 1]) end
    if child - 1 - reach >= from then redis.call('SREM', own, ARGV[child], ARGV[child - 1 - reach])
    else redis.call('SREM', own, ARGV[child]) end
    set = own
  end
end

local scored
function steps.below(at, to)
  local parent, from, until_ = ARGV[at + 1], tonumber(ARGV[at + 2]) + offset, tonumber(ARGV[at + 3]) + offset
  redis.call('SADD', parent .. ':all_descendants', unpack(ARGV, from, until_))
  if not scored then
    scored = {}
    for place = names, last do
      local pair = 2 * (place - names)
      scored[pair + 1], scored[pair + 2] = tostring(place - offset), ARGV[place]
    end
  end
  redis.call('ZADD', parent .. ':sequence', unpack(scored, 2 * (from - names) + 1, 2 * (until_ - names) + 2))
  if to > at + 3 then redis.call('SADD', parent .. ':children', unpack(ARGV, at + 4, to)) end
end

local at = last + 1
while at <= #ARGV do
  local word, to = ARGV[at], at + 1 + tonumber(ARGV[at + 1])
  local full
  if word == 'add' then full = check(tonumber(ARGV[at + 2]), ARGV[at + 3], at + 4, to)
  elseif word == 'below' and ARGV[at + 2] ~= '0' then
    full = check(tonumber(ARGV[at + 2]), ARGV[at + 3] .. ':all_descendants',
      tonumber(ARGV[at + 4]) + offset, tonumber(ARGV[at + 5]) + offset)
  end
  if full then return redis.error_reply('FULL ' .. full) end
  at = to + 1
end
at = last + 1
while at <= #ARGV do
  local to = at + 1 + tonumber(ARGV[at + 1])
  steps[ARGV[at]](at + 2, to)
  at = to + 1
end
return 1
