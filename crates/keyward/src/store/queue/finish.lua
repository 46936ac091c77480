-- Ends leases whose jobs are done. ARGV: spec and TTL of the status, retention, then for each job its ticket, its take, when
-- it was taken, its result and whether it has a status, whose keys stand behind the queue's own. Answers for each 1, or 0 if the lease was
-- not held any more; then an error of a status, if there was one.
local spec, ttl, retain = ARGV[1], ARGV[2], tonumber(ARGV[3])
local ended, failed, status = {}, false, 7
-- A key of another type is refused here, before anything is changed.
if retain > 0 then redis.call('ZCARD', done) end
for at = 4, #ARGV, 5 do
  local ticket, take, since, result, has_status = unpack(ARGV, at, at + 4)
  if has_status == '1' then status = status + 1 end
  local record = held(ticket, tonumber(take))
  if record then
    unlease(ticket, record)
    -- An error stands there if it has failed before, or was cancelled.
    local clean = record.attempts == 0 and record.state == 'l'
    record.attempts = record.attempts + 1
    conclude(ticket, record, retain, result)
    if has_status == '1' then
      local facts = { started_at = tonumber(since), completed_at = now }
      if not clean then facts.error = false end
      if result ~= '' then facts.result = result end
      failed = project(KEYS[status], spec, ttl, 'completed', record, facts) or failed
    end
  end
  ended[#ended + 1] = record and 1 or 0
end
return { ended, failed }
