-- A queue that is a list: each entry is a payload. s:<sha1> in ~jobs is the first and the last ticket with a payload, and
-- n:<ticket> the next one.
local function count()
  return redis.call('LLEN', list)
end

-- The field of ~jobs that says which tickets wait with a payload.
local function chain_of(payload)
  return 's:' .. redis.sha1hex(payload)
end

-- The ticket of an entry that was taken off the list, if it has one.
local function unlink(payload)
  local field = chain_of(payload)
  local chain = redis.call('HGET', jobs, field)
  if not chain then return nil end
  local first, last = string.match(chain, '^(%d+) (%d+)$')
  if first == last then
    redis.call('HDEL', jobs, field)
  else
    local following = redis.call('HGET', jobs, 'n:' .. first)
    redis.call('HDEL', jobs, 'n:' .. first)
    redis.call('HSET', jobs, field, following .. ' ' .. last)
  end
  redis.call('HINCRBY', jobs, 'linked', -1)
  return first
end

-- Adds an entry.
local function append(payload)
  redis.call('RPUSH', list, payload)
end

-- Adds an entry with a ticket, once `append_all` is called; the fields of ~jobs that say so. `known` is what they hold. Equal
-- payloads are served in the order of their tickets.
local payloads = {}
local function append_as(ticket, payload, field, known)
  payloads[#payloads + 1] = payload
  local first, last = ticket, nil
  if known[field] then first, last = string.match(known[field], '^(%d+) (%d+)$') end
  known[field] = first .. ' ' .. ticket
  if last then return field, known[field], 'n:' .. last, ticket end
  return field, known[field]
end

local function append_all()
  if #payloads > 0 then redis.call('RPUSH', list, unpack(payloads)) end
end

-- Drops the oldest entry; its ticket, if it has one.
local function drop()
  return unlink(redis.call('LPOP', list))
end

-- Takes the next entry: one that an idle worker has moved, or the first. `linked` is how many have a ticket. Answers the
-- payload, its ticket if it has one, and since when it is known.
local has_taken
local function shift(linked)
  if has_taken == nil then has_taken = redis.call('EXISTS', taken) == 1 end
  local payload = has_taken and redis.call('LPOP', taken) or redis.call('LPOP', list)
  if not payload then return nil end
  return payload, linked > 0 and unlink(payload), now
end

-- Puts back what idle workers have moved, so that everything that waits can be seen on the list.
local function put_back()
  while redis.call('LMOVE', taken, list, 'RIGHT', 'LEFT') do end
end
