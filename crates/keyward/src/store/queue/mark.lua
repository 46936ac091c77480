-- Writes the status of jobs after a take. ARGV: spec and TTL of the status, then a ticket for each key behind the
-- queue's own. What the record says now counts, so that a call that comes late does no harm. Answers an error, if there was one.
local spec, ttl = ARGV[1], ARGV[2]
local failed = false
for number = 8, #KEYS do
  local record = read(ARGV[number - 5])
  if record and record.state == 'l' then
    failed = project(KEYS[number], spec, ttl, 'processing', record, { started_at = now }) or failed
  elseif record and (record.state == 'r' or record.state == 'd') then
    failed = project(KEYS[number], spec, ttl, 'pending', record, {}) or failed
  end
end
return failed
