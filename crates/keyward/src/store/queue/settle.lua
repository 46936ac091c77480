-- Ends a lease whose job is not done. ARGV: ticket, take, when it was taken, how (`retry`, `release`, `dead`), delay, the error, spec and TTL
-- of the status, retention, what is said of a dead job (an object without its end), the dead letter if that is not what
-- is said, whether it is not, the bound of the dead letters, whether they refuse what does not fit, their TTL, whether a
-- TTL that runs stays. Answers 1, 0 if the lease was not held any more, or -1 if the dead letters
-- are full and the job waits again; then an error of the status, if there was one.
local ticket, take, since, how, delay, said, spec, ttl, retain, note, letter, as_is, bound, refuse, dead_ttl, keep = unpack(ARGV)
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

-- Keys of another type are refused here, before anything is changed.
for _, key in ipairs({ due, ready, done }) do redis.call('ZCARD', key) end
local buried = how == 'dead' and redis.call('LLEN', dead) or 0
local notes = how == 'dead' and as_is == '1' and KEYS[#KEYS - 1]
local noted = notes and redis.call('HLEN', notes) or 0
local full = how == 'dead' and not cancelled and refuse == '1' and bound > 0 and buried >= bound
unlease(ticket, record)
local word, facts = 'pending', { started_at = tonumber(since), error = said }
if cancelled then
  word, facts.completed_at, facts.error = 'failed', now, 'cancelled'
  conclude(ticket, record, retain, '')
elseif how == 'release' then
  facts = { started_at = false }
  make_ready(ticket, record)
elseif how == 'retry' or full then
  record.attempts = record.attempts + 1
  wait()
else
  record.attempts = record.attempts + 1
  note = note .. ',"failed_at":"' .. rfc3339(now) .. '"}'
  redis.call('RPUSH', dead, notes and letter or note)
  for _ = 1, bound > 0 and buried + 1 - bound or 0 do
    local gone = redis.call('LPOP', dead)
    if notes then redis.call('HDEL', notes, redis.sha1hex(gone)) end
  end
  if notes then
    -- Somebody else has removed many letters: their notes must not stay for as long as others come.
    if noted > buried + 1000 then redis.call('DEL', notes) end
    redis.call('HSET', notes, redis.sha1hex(letter), note)
    redis.call('PEXPIRE', notes, dead_ttl > 0 and dead_ttl or 2592000000)
  end
  if dead_ttl > 0 and (keep == '0' or redis.call('PTTL', dead) < 0) then redis.call('PEXPIRE', dead, dead_ttl) end
  word, facts.completed_at = 'failed', now
  forget(ticket, record)
end
local failed = status and record.id ~= '' and project(status, spec, ttl, word, record, facts)
return { full and -1 or 1, failed }
