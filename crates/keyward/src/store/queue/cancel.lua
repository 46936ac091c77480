-- Cancels a job. ARGV: its id, spec and TTL of the status. Answers 0 if none waits or runs, 1 if it waited and is gone,
-- 2 if it runs and its worker will be told; then an error of the status, if there was one.
local id, spec, ttl = unpack(ARGV)
local ticket = redis.call('HGET', jobs, 'i:' .. id)
local record = ticket and read(ticket)
if not record or record.state == 'k' then return { 0, false } end
local runs = record.state == 'l' or record.state == 'c'
if runs then
  record.state = 'c'
  save(ticket, record)
else
  withdraw(ticket, record)
end
local facts = { completed_at = now, error = 'cancelled' }
local failed = spec ~= '' and project(KEYS[8], spec, ttl, 'failed', record, facts)
return { runs and 2 or 1, failed }
