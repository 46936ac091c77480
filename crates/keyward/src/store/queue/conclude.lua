-- What ends of leases share.

-- The record of a job whose lease is held under this take.
local function held(ticket, take)
  local record = read(ticket)
  if record and record.takes == take and (record.state == 'l' or record.state == 'c') then return record end
end

-- What becomes of a job that has ended: it is forgotten, or kept for a while if it can be asked about.
local function conclude(ticket, record, retain, result)
  -- An id that stands for a payload is for one job at a time, and nobody asks about it.
  if retain == 0 or record.id == '' or string.sub(record.id, 1, 1) == '=' then return forget(ticket, record) end
  record.state = 'k'
  redis.call('HDEL', jobs, 'p:' .. ticket)
  redis.call('HSET', jobs, 'm:' .. ticket, spell(record), 'r:' .. ticket, result)
  redis.call('ZADD', done, now + retain, ticket)
end

