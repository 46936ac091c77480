-- Pushes jobs. ARGV: delay, priority, group, whether an old one is replaced, bound (negative: the oldest entries go), spec and
-- TTL of the status, the dead letter that the job was, whether that has a note ('': it was none), the name and the tick of a
-- repeating job (or ''); then an id ('=': equal payloads have one) and a payload for each job. Either no job has an id, or
-- each has one and, with a spec, its status behind the queue's own keys. Jobs with an id are pushed together only where
-- nothing else is asked and there is no bound.
--
-- Answers for each job, or once for all without an id, a number and a text: 1 and the ticket, 0 if it was not pushed, with the
-- ticket that has the id, -1 if the queue is full, or -2 and why the status cannot be written.
local delay, priority, group, replace, bound, spec, ttl, letter, noted, name, tick = unpack(ARGV, 1, 11)
delay, priority, bound = tonumber(delay), tonumber(priority), tonumber(bound)
local dead = KEYS[#KEYS]
local plain = ARGV[12] == '' and delay == 0 and priority == 0 and group == ''

-- Keys of another type are refused here, before anything is changed.
local waits = count()
if delay > 0 or priority ~= 0 or group ~= '' or replace ~= '' then
  for _, key in ipairs({ due, ready, done }) do redis.call('ZCARD', key) end
end
if name ~= '' and tonumber(redis.call('HGET', jobs, 'c:' .. name) or 0) >= tonumber(tick) then return { 0, '' } end
if noted ~= '' and not redis.call('LPOS', dead, letter) then return { 0, '' } end

local function is_full(more)
  if bound <= 0 then return false end
  return waits + redis.call('LLEN', taken) + redis.call('ZCARD', ready) + redis.call('ZCARD', due) + more > bound
end

-- Drops the jobs that have waited longest, where the schema says so.
local function trim()
  for _ = 1, bound < 0 and count() + bound or 0 do
    local ticket = drop()
    local dropped = ticket and read(ticket)
    if dropped then forget(ticket, dropped) end
  end
end

-- Notes where the job came from.
local function arrive()
  if name ~= '' then redis.call('HSET', jobs, 'c:' .. name, tick) end
  if noted ~= '' then unbury(dead, noted == '1' and KEYS[#KEYS - 1], letter) end
end

if plain then
  if is_full((#ARGV - 11) / 2) then return { -1, '' } end
  for at = 13, #ARGV, 2 do append(ARGV[at]) end
  arrive()
  trim()
  return { 1, '' }
end

-- What ~jobs holds of these jobs: the tickets of their ids and of their payloads.
local wanted, known = { 'seq', 'linked' }, {}
for at = 12, #ARGV, 2 do
  if ARGV[at] == '=' then ARGV[at] = '=' .. redis.sha1hex(ARGV[at + 1]) end
  wanted[at - 9], wanted[at - 8] = 'i:' .. ARGV[at], chain_of(ARGV[at + 1])
end
for at, value in ipairs(redis.call('HMGET', jobs, unpack(wanted))) do known[wanted[at]] = value end

-- Jobs of one call differ in nothing but their ids and payloads. Idle workers wait for an entry: where there is none, order
-- does not matter, and any job may wake one.
local state = delay > 0 and 'd' or 'r'
if delay == 0 and ((priority == 0 and group == '') or waits == 0) then state = 'w' end
local job = { state = state, takes = 0, attempts = 0, crashes = 0, priority = priority, created = now, group = group, id = '' }
local record_of_all = spell(job)
local set, unset
if spec ~= '' then
  local cleared = { started_at = false, completed_at = false, error = false, result = false, progress = false }
  set, unset = describe(spec, 'pending', job, cleared)
end

-- What is written in the end, for all of them together.
local added, linked, pushed = {}, 0, {}
local function add(...)
  for _, text in ipairs({ ... }) do added[#added + 1] = text end
end

-- Pushes one job; what is answered about it.
local function push(id, payload, chain, status)
  if pushed[id] then return 0, pushed[id] end
  local old = id ~= '' and known['i:' .. id]
  local record = old and read(old)
  local runs = record and (record.state == 'l' or record.state == 'c')
  if record and (replace == '' or runs) then return 0, old end
  if not record and is_full(1) then return -1, '' end

  local ticket = issue(known.seq)
  local failed = set and note(status, ttl, set, unset)
  if failed then return -2, failed end
  arrive()
  if record then withdraw(old, record) end
  add('m:' .. ticket, record_of_all .. id)
  if state == 'w' then
    add(append_as(ticket, payload, chain, known))
    linked = linked + 1
  else
    add('p:' .. ticket, payload)
    if delay > 0 then
      redis.call('ZADD', due, now + delay, ticket)
    else
      redis.call('ZADD', ready, 0, place(ticket, job))
    end
  end
  if id ~= '' then
    add('i:' .. id, ticket)
    pushed[id] = ticket
  end
  known.seq = ticket
  return 1, ticket
end

local answers = {}
for at = 12, #ARGV, 2 do
  answers[at - 11], answers[at - 10] = push(ARGV[at], ARGV[at + 1], wanted[at - 8], KEYS[at / 2 + 2])
end
if #added > 0 then
  append_all()
  redis.call('HSET', jobs, 'seq', known.seq, 'linked', (known.linked or 0) + linked, unpack(added))
  if linked > 0 then trim() end
end
return answers
