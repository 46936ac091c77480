-- Pushes jobs. ARGV: id ('=': equal payloads have one), delay, priority, group, whether an old one is replaced, bound
-- (negative: the oldest entries of the list go), spec and TTL of the status, the dead letter that the job was (or ''), the name and the tick of a repeating job (or ''), payloads. With an id, a delay,
-- a priority or a group there is one payload. Answers 1 and the ticket, 0 if nothing was pushed, with the ticket that
-- has the id, or -1 if the queue is full.
local id, delay, priority, group, replace, bound, spec, ttl, letter, name, tick = unpack(ARGV, 1, 11)
delay, priority, bound = tonumber(delay), tonumber(priority), tonumber(bound)
local payload = ARGV[12]
if id == '=' then id = '=' .. redis.sha1hex(payload) end

local on_list = redis.call('LLEN', list)
if name ~= '' and tonumber(redis.call('HGET', jobs, 'c:' .. name) or 0) >= tonumber(tick) then return { 0, '' } end
local old, record
if id ~= '' then
  old = redis.call('HGET', jobs, 'i:' .. id)
  record = old and read(old)
  local runs = record and (record.state == 'l' or record.state == 'c')
  if record and (replace == '' or runs) then return { 0, old } end
end
if bound > 0 and not record then
  local waiting = on_list + redis.call('LLEN', taken) + redis.call('ZCARD', ready) + redis.call('ZCARD', due)
  if waiting + #ARGV - 11 > bound then return { -1, '' } end
end
if letter ~= '' and redis.call('LREM', KEYS[#KEYS], 1, letter) == 0 then return { 0, '' } end

-- Drops the jobs that have waited longest, where the schema says so.
local function trim()
  for _ = 1, bound < 0 and redis.call('LLEN', list) + bound or 0 do
    local ticket = unlink(redis.call('LPOP', list))
    local dropped = ticket and read(ticket)
    if dropped then forget(ticket, dropped) end
  end
end

if id == '' and delay == 0 and priority == 0 and group == '' then
  if name ~= '' then redis.call('HSET', jobs, 'c:' .. name, tick) end
  redis.call('RPUSH', list, unpack(ARGV, 12))
  trim()
  return { 1, '' }
end

local ticket = issue(redis.call('HGET', jobs, 'seq'))
local job = { state = 'w', takes = 0, attempts = 0, crashes = 0, priority = priority, created = now, group = group, id = id }
if spec ~= '' then
  local cleared = { started_at = false, completed_at = false, error = false, result = false, progress = false }
  local failed = project(KEYS[8], spec, ttl, 'pending', job, cleared)
  if failed then return redis.error_reply(failed) end
end
if record then withdraw(old, record) end
redis.call('HSET', jobs, 'seq', ticket)
if id ~= '' then redis.call('HSET', jobs, 'i:' .. id, ticket) end
if name ~= '' then redis.call('HSET', jobs, 'c:' .. name, tick) end
if delay > 0 then
  job.state = 'd'
  redis.call('HSET', jobs, 'p:' .. ticket, payload)
  redis.call('ZADD', due, now + delay, ticket)
  save(ticket, job)
elseif (priority == 0 and group == '') or on_list == 0 then
  -- Idle workers block on the list. Where it is empty, order does not matter, and any job may wake one.
  link(ticket, payload)
  redis.call('RPUSH', list, payload)
  save(ticket, job)
  trim()
else
  redis.call('HSET', jobs, 'p:' .. ticket, payload)
  make_ready(ticket, job)
end
return { 1, ticket }
