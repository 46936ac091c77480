-- Leases jobs. ARGV: how many, the lease in milliseconds, how many of a group may run at once (0: any number). Answers
-- the jobs, the tickets that went back to waiting with their ids, after how many milliseconds there is more (-1: nothing is due),
-- whether it is paused, whether jobs wait for others of their group, and the time.
local count, lease, per_group = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
-- However many leases end at once, a take does a bounded amount of work.
local most = 16 + count

local paused, turn, linked, seq = unpack(redis.call('HMGET', jobs, 'paused', 'turn', 'linked', 'seq'))
local turned, issued = turn, seq -- as they are stored
linked = tonumber(linked or 0)
local back = {}
local blocked = 0
-- A key of another type is refused here, before anything is changed. Most queues have nothing in it, and it is not asked for
-- each job.
local has_ready = redis.call('ZCARD', ready) > 0

for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, most)) do
  local record = read(ticket)
  if not record then
    redis.call('ZREM', leases, ticket)
  else
    unlease(ticket, record)
    if record.state == 'c' then
      forget(ticket, record)
    else
      record.crashes = record.crashes + 1
      make_ready(ticket, record)
      has_ready = true
      if record.id ~= '' then back[#back + 1] = ticket; back[#back + 1] = record.id end
    end
  end
end
for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, most)) do
  redis.call('ZREM', due, ticket)
  local record = read(ticket)
  if record then
    make_ready(ticket, record)
    has_ready = true
  end
end
for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', done, '-inf', now, 'LIMIT', 0, most)) do
  redis.call('ZREM', done, ticket)
  local record = read(ticket)
  if record then forget(ticket, record) end
end

if paused then
  put_back()
  return { {}, back, -1, 1, 0, now }
end

-- A job of ~ready.
local function called(member)
  redis.call('ZREM', ready, member)
  local ticket = string.sub(member, -16)
  local record = read(ticket)
  return ticket, record, record and redis.call('HGET', jobs, 'p:' .. ticket)
end

-- The next job without a group: one of ~ready whose priority is not negative, then the queue's own, then the rest.
local function ungrouped()
  for _ = 1, most do
    local member = has_ready and redis.call('ZRANGEBYLEX', ready, '-', '(\1', 'LIMIT', 0, 1)[1]
    if member and tonumber(string.sub(member, 2, 5)) <= 1000 then return called(member) end
    local payload, ticket, created = shift(linked, lease)
    if not payload then
      if member then return called(member) end
      return nil
    end
    if not ticket then
      seq = issue(seq)
      return seq, { takes = 0, attempts = 0, crashes = 0, priority = 0, created = created, group = '', id = '' }, payload
    end
    linked = linked - 1
    local record = read(ticket)
    if record.state == 'x' then
      redis.call('HDEL', jobs, 'm:' .. ticket)
    elseif record.priority ~= 0 or record.group ~= '' then
      redis.call('HSET', jobs, 'p:' .. ticket, payload)
      make_ready(ticket, record)
      has_ready = true
    else
      return ticket, record, payload
    end
  end
end

-- The next job. Groups take turns in the order of their names, and what has no group takes the first turn.
local function pick()
  local dry = false
  for _ = 1, most do
    if not turn then
      turn = ''
      local ticket, record, payload = ungrouped()
      if ticket then return ticket, record, payload end
      dry = true
    end
    local member = has_ready and redis.call('ZRANGEBYLEX', ready, '(' .. turn .. '\1', '+', 'LIMIT', 0, 1)[1]
    if not member then
      turn = false
      if dry then return nil end
    else
      turn = string.match(member, '^(%Z*)')
      if per_group == 0 or tonumber(redis.call('HGET', jobs, 'g:' .. turn) or 0) < per_group then return called(member) end
      blocked = 1
    end
  end
end

-- What is large comes alone, or nearly: an answer that takes too long is lost with all its jobs.
local given, size = {}, 0
while #given < count and size < 1048576 do
  local ticket, record, payload = pick()
  if not ticket then break end
  if record and payload then
    record.state, record.takes = 'l', record.takes + 1
    size = size + #payload
    redis.call('HSET', jobs, 'm:' .. ticket, spell(record), 'p:' .. ticket, payload)
    redis.call('ZADD', leases, now + lease, ticket)
    if record.group ~= '' then redis.call('HINCRBY', jobs, 'g:' .. record.group, 1) end
    given[#given + 1] = {
      ticket, record.takes, record.attempts, record.crashes, record.created, record.group, record.id, payload,
    }
  end
end
if seq ~= issued then redis.call('HSET', jobs, 'seq', seq) end
-- Whose turn is next matters only while groups wait.
local last = has_ready and redis.call('ZRANGE', ready, -1, -1)[1]
if not turn or not last or string.sub(last, 1, 1) == '\0' then
  if turned then redis.call('HDEL', jobs, 'turn') end
elseif turn ~= turned then
  redis.call('HSET', jobs, 'turn', turn)
end

local next_due = -1
if size >= 1048576 then
  next_due = 0
elseif #given < count then
  for _, key in ipairs({ due, leases }) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    if first then
      local left = math.max(0, tonumber(first) - now)
      if next_due < 0 or left < next_due then next_due = left end
    end
  end
end
return { given, back, next_due, 0, blocked, now }
