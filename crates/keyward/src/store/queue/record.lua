-- What the scripts of a queue share. It is put before each of them.
--
-- KEYS: 1 ~jobs, 2 the list or the stream, 3 ~taken, 4 ~leases, 5 ~due, 6 ~ready, 7 ~done; then the status, the notes
-- about dead letters, and the dead letters.
-- ~jobs is a hash: m:<ticket> is a record, p:<ticket> its payload unless that waits in the queue, i:<id> the ticket of
-- an id, s:, n: and e: the tickets of entries (see list.lua and stream.lua), o:<ticket> the progress, r:<ticket> the
-- result, g:<group> how many of a group run, c:<name> the last tick of a repeating job, `seq` the last ticket, `linked`
-- how many entries have a record, `turn` the group that was served last, `paused`.
--
-- States: w in the queue, x in the queue but cancelled, r ready, d due later, l leased, c leased and to be cancelled,
-- k kept after its end.
local jobs, list, taken, leases, due, ready, done = unpack(KEYS, 1, 7)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function parse(text)
  local state, takes, attempts, crashes, priority, created, size, rest =
    string.match(text, '^(%a) (%d+) (%d+) (%d+) (-?%d+) (%d+) (%d+):(.*)$')
  size = tonumber(size)
  return {
    state = state, takes = tonumber(takes), attempts = tonumber(attempts), crashes = tonumber(crashes),
    priority = tonumber(priority), created = tonumber(created),
    group = string.sub(rest, 1, size), id = string.sub(rest, size + 1),
  }
end

local function read(ticket)
  local text = redis.call('HGET', jobs, 'm:' .. ticket)
  return text and parse(text)
end

-- A moment as a field spells it: RFC 3339, seconds or milliseconds since 1970. Jobs of one moment share the text.
local moments = {}
local function moment(ms, kind)
  local of_kind = moments[kind] or {}
  moments[kind] = of_kind
  if not of_kind[ms] then
    if kind == 't' then
      of_kind[ms] = rfc3339(ms)
    else
      of_kind[ms] = string.format('%.0f', kind == 'm' and ms or math.floor(ms / 1000))
    end
  end
  return of_kind[ms]
end

local function spell(record)
  local numbers = string.format('%s %d %d %d %d %s %d:', record.state, record.takes, record.attempts,
    record.crashes, record.priority, moment(record.created, 'm'), #record.group)
  return numbers .. record.group .. record.id
end

local function save(ticket, record)
  redis.call('HSET', jobs, 'm:' .. ticket, spell(record))
end

-- Tickets grow, also when the server's clock jumps back, and after all keys were lost.
local function issue(last)
  local ticket = time[1] .. string.sub('00000' .. time[2], -6)
  if not last or last < ticket then return ticket end
  return string.format('%016.0f', last + 1)
end

-- Where a job stands in ~ready: by its group, then its priority, then its ticket.
local function place(ticket, record)
  return record.group .. '\0' .. string.format('%04d', 1000 - record.priority) .. ticket
end

local function make_ready(ticket, record)
  record.state = 'r'
  save(ticket, record)
  redis.call('ZADD', ready, 0, place(ticket, record))
end

-- Removes what is known of a job. Another job may have got its id.
local function forget(ticket, record)
  redis.call('HDEL', jobs, 'm:' .. ticket, 'p:' .. ticket, 'o:' .. ticket, 'r:' .. ticket)
  if record.id ~= '' and redis.call('HGET', jobs, 'i:' .. record.id) == ticket then
    redis.call('HDEL', jobs, 'i:' .. record.id)
  end
end

-- A lease has ended: its group has room for another.
local function unlease(ticket, record)
  redis.call('ZREM', leases, ticket)
  if record.group ~= '' and redis.call('HINCRBY', jobs, 'g:' .. record.group, -1) <= 0 then
    redis.call('HDEL', jobs, 'g:' .. record.group)
  end
end

-- Removes a job that waits or is kept. What is in the queue stays there until it is taken, and is dropped then.
local function withdraw(ticket, record)
  if record.state == 'w' then
    redis.call('HDEL', jobs, 'i:' .. record.id)
    record.state = 'x'
    save(ticket, record)
    return
  end
  redis.call('ZREM', ready, place(ticket, record))
  redis.call('ZREM', due, ticket)
  redis.call('ZREM', done, ticket)
  forget(ticket, record)
end

local TIMES = { created_at = true, updated_at = true, started_at = true, completed_at = true }

-- What the documented status says: names and values to set, and names to remove. `spec` names the fields that the schema
-- has, each with how it is spelled; `facts` are their values, where `false` removes one.
local fields
local function describe(spec, word, record, facts)
  if not fields then
    fields = {}
    for name, kind in string.gmatch(spec, '([%w_]+):(%a)') do fields[#fields + 1] = { name, kind } end
  end
  facts.status, facts.created_at, facts.updated_at = word, record.created, now
  if facts.attempts == nil then facts.attempts = record.attempts end
  local set, unset = {}, {}
  for _, field in ipairs(fields) do
    local name, kind = field[1], field[2]
    local value = facts[name]
    if value == false then
      unset[#unset + 1] = name
    elseif value ~= nil then
      set[#set + 1] = name
      set[#set + 1] = TIMES[name] and moment(value, kind) or value
    end
  end
  return set, unset
end

-- Writes a status. An error, such as a key of another type, is returned.
local function note(key, ttl, set, unset)
  local added = redis.pcall('HSET', key, unpack(set))
  if type(added) == 'table' and added.err then return added.err end
  -- What did not exist has nothing to remove.
  if added < #set / 2 and #unset > 0 then redis.call('HDEL', key, unpack(unset)) end
  if tonumber(ttl) > 0 then redis.call('PEXPIRE', key, ttl) end
  return false
end

local function project(key, spec, ttl, word, record, facts)
  return note(key, ttl, describe(spec, word, record, facts))
end

