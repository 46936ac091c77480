-- Ends leases whose jobs are done. ARGV: spec and TTL of the status, retention, then for each job its ticket, its take, its
-- result and whether it has a status, whose keys stand behind the queue's own. Answers for each 1, or 0 if the lease was
-- not held any more; then an error of a status, if there was one.
local spec, ttl, retain = ARGV[1], ARGV[2], tonumber(ARGV[3])
local ended, failed, status = {}, false, 7
for at = 4, #ARGV, 4 do
  local ticket, take, result, has_status = unpack(ARGV, at, at + 3)
  if has_status == '1' then status = status + 1 end
  local record = held(ticket, tonumber(take))
  if record then
    unlease(ticket, record)
    record.attempts = record.attempts + 1
    conclude(ticket, record, retain, result)
    if has_status == '1' then
      local facts = { completed_at = now, error = false, result = result }
      failed = project(KEYS[status], spec, ttl, 'completed', record, facts) or failed
    end
  end
  ended[#ended + 1] = record and 1 or 0
end
return { ended, failed }
