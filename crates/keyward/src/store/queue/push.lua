-- Pushes jobs. ARGV: id ('=': equal payloads have one), delay, priority, group, whether an old one is replaced, bound
-- (negative: the oldest entries go), spec and TTL of the status, the dead letter that the job was, whether that has a note
-- ('': it was none), the name and the tick of a repeating job (or ''), payloads. With an id, a delay, a priority or a group
-- there is one payload. Answers 1 and the ticket, 0 if nothing was pushed, with the ticket that has the id, or -1 if the
-- queue is full.
local id, delay, priority, group, replace, bound, spec, ttl, letter, noted, name, tick = unpack(ARGV, 1, 12)
delay, priority, bound = tonumber(delay), tonumber(priority), tonumber(bound)
local payload, dead = ARGV[13], KEYS[#KEYS]
if id == '=' then id = '=' .. redis.sha1hex(payload) end

local waits = count()
if name ~= '' and tonumber(redis.call('HGET', jobs, 'c:' .. name) or 0) >= tonumber(tick) then return { 0, '' } end
local old, record
if id ~= '' then
  old = redis.call('HGET', jobs, 'i:' .. id)
  record = old and read(old)
  local runs = record and (record.state == 'l' or record.state == 'c')
  if record and (replace == '' or runs) then return { 0, old } end
end
if bound > 0 and not record then
  local waiting = waits + redis.call('LLEN', taken) + redis.call('ZCARD', ready) + redis.call('ZCARD', due)
  if waiting + #ARGV - 12 > bound then return { -1, '' } end
end
if noted ~= '' and not redis.call('LPOS', dead, letter) then return { 0, '' } end

-- Drops the jobs that have waited longest, where the schema says so.
local function trim()
  for _ = 1, bound < 0 and count() + bound or 0 do
    local ticket = drop()
    local dropped = ticket and read(ticket)
    if dropped then forget(ticket, dropped) end
  end
end

-- Notes where the job came from. What may fail has been done before.
local function arrive()
  if name ~= '' then redis.call('HSET', jobs, 'c:' .. name, tick) end
  if noted == '' then return end
  unbury(dead, noted == '1' and KEYS[#KEYS - 1], letter)
end

if id == '' and delay == 0 and priority == 0 and group == '' then
  for at = 13, #ARGV do append(ARGV[at]) end
  arrive()
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
-- Idle workers wait for an entry. Where there is none, order does not matter, and any job may wake one.
local as_entry = delay == 0 and ((priority == 0 and group == '') or waits == 0)
if as_entry then append(payload, ticket) end
arrive()
if record then withdraw(old, record) end
local known = { 'seq', ticket }
local function know(field, value)
  known[#known + 1] = field
  known[#known + 1] = value
end
if id ~= '' then know('i:' .. id, ticket) end
if not as_entry then
  job.state = delay > 0 and 'd' or 'r'
  know('p:' .. ticket, payload)
end
know('m:' .. ticket, spell(job))
redis.call('HSET', jobs, unpack(known))
if as_entry then
  trim()
elseif delay > 0 then
  redis.call('ZADD', due, now + delay, ticket)
else
  redis.call('ZADD', ready, 0, place(ticket, job))
end
return { 1, ticket }
