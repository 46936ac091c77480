-- A queue that is a stream. A payload spells the names and values of an entry in turn: `2:to3:you`. e:<entry> in ~jobs is
-- the ticket of an entry.
--
-- Workers are one consumer of the group `keyward`. What the server gives to it when an idle worker waits is pending until
-- the next take, which moves it to ~jobs. Other programs may be consumers of the group as well.
local function count()
  return redis.call('XLEN', list)
end

local function unlink(entry)
  local ticket = redis.call('HGET', jobs, 'e:' .. entry)
  if not ticket then return nil end
  redis.call('HDEL', jobs, 'e:' .. entry)
  redis.call('HINCRBY', jobs, 'linked', -1)
  return ticket
end

-- The number of an entry is known when it is added: nothing has to be read before.
local function chain_of()
  return 'seq'
end

-- Adds an entry; its number.
local function append(payload)
  local texts, at = {}, 1
  while at <= #payload do
    local colon = string.find(payload, ':', at, true)
    local size = tonumber(string.sub(payload, at, colon - 1))
    texts[#texts + 1] = string.sub(payload, colon + 1, colon + size)
    at = colon + size + 1
  end
  return redis.call('XADD', list, '*', unpack(texts))
end

-- Adds an entry with a ticket; the field of ~jobs that says so.
local function append_as(ticket, payload)
  return 'e:' .. append(payload), ticket
end

local function append_all() end

-- Drops the oldest entry; its ticket, if it has one.
local function drop()
  local entry = redis.call('XRANGE', list, '-', '+', 'COUNT', 1)[1][1]
  redis.call('XDEL', list, entry)
  return unlink(entry)
end

-- An entry that is pending ('0'), or one that nobody was given ('>'), which does not become pending.
local function given(from)
  local answer = redis.call('XREADGROUP', 'GROUP', 'keyward', 'keyward', 'COUNT', 1, 'NOACK', 'STREAMS', list, from)
  return answer and answer[1][2][1]
end

-- Somebody has removed a pending entry from the stream: its job is gone too.
local function removed(entry)
  local ticket = unlink(entry)
  local record = ticket and read(ticket)
  if record then forget(ticket, record) end
end

-- Takes the next entry. `linked` is how many have a ticket, and `lease` after how many milliseconds without a word another
-- consumer has lost its entries. Answers the payload, its ticket if it has one, and when it was added.
local has_pending
local function shift(linked, lease)
  if has_pending == nil then
    local claimed = redis.pcall('XAUTOCLAIM', list, 'keyward', 'keyward', lease, '0', 'JUSTID')
    -- There is no group yet, or not any more. What was taken is not in the stream: the others have not been taken.
    if claimed.err then redis.call('XGROUP', 'CREATE', list, 'keyward', '0', 'MKSTREAM') end
    for _, entry in ipairs(claimed[3] or {}) do removed(entry) end
    has_pending = true
  end
  local entry = has_pending and given('0')
  while entry do
    redis.call('XACK', list, 'keyward', entry[1])
    if entry[2] then break end
    removed(entry[1])
    entry = given('0')
  end
  has_pending = entry and true or false
  entry = entry or given('>')
  if not entry then return nil end
  redis.call('XDEL', list, entry[1])
  local texts = {}
  for at, text in ipairs(entry[2]) do texts[at] = #text .. ':' .. text end
  local created = math.min(now, tonumber(string.match(entry[1], '^%d+')))
  return table.concat(texts), linked > 0 and unlink(entry[1]), created
end

-- What is pending is still in the stream.
local function put_back() end
