-- Ends a lease. ARGV: ticket, take, how (`retry`, `release`, `dead`), delay, the error, spec and TTL of the status, retention, the dead letter, whether its end is missing, the bound of the dead letters, whether they refuse
-- what does not fit, their TTL, whether a TTL that runs stays. Answers 1, 0 if the lease was not held any more, or -1 if the dead letters
-- are full and the job waits again; then an error of the status, if there was one.
local ticket, take, how, delay, said, spec, ttl, retain, letter, open, bound, refuse, dead_ttl, keep = unpack(ARGV)
local status, dead = spec ~= '' and KEYS[8], KEYS[#KEYS]
take, delay, retain, bound, dead_ttl = tonumber(take), tonumber(delay), tonumber(retain), tonumber(bound), tonumber(dead_ttl)

local record = held(ticket, take)
if not record then return { 0, false } end
local cancelled = record.state == 'c'

local function wait()
  record.state = 'd'
  save(ticket, record)
  redis.call('ZADD', due, now + delay, ticket)
end

local full = how == 'dead' and not cancelled and refuse == '1' and bound > 0 and redis.call('LLEN', dead) >= bound
unlease(ticket, record)
local word, facts = 'pending', { error = said }
if cancelled then
  word, facts = 'failed', { completed_at = now, error = 'cancelled' }
  conclude(ticket, record, retain, '')
elseif how == 'release' then
  facts = { started_at = false }
  make_ready(ticket, record)
elseif how == 'retry' or full then
  record.attempts = record.attempts + 1
  wait()
else
  record.attempts = record.attempts + 1
  if open == '1' then letter = letter .. ',"failed_at":"' .. moment(now, 't') .. '"}' end
  redis.call('RPUSH', dead, letter)
  if bound > 0 then redis.call('LTRIM', dead, -bound, -1) end
  if dead_ttl > 0 and (keep == '0' or redis.call('PTTL', dead) < 0) then redis.call('PEXPIRE', dead, dead_ttl) end
  word, facts = 'failed', { completed_at = now, error = said }
  forget(ticket, record)
end
local failed = status and record.id ~= '' and project(status, spec, ttl, word, record, facts)
return { full and -1 or 1, failed }
