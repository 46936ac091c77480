-- Renews leases. ARGV: the lease in milliseconds, then ticket and take of each. Answers for each: 1 renewed, 2 renewed
-- and to be cancelled, 0 lost.
local answers = {}
for at = 2, #ARGV, 2 do
  local record = read(ARGV[at])
  local held = record and record.takes == tonumber(ARGV[at + 1]) and (record.state == 'l' or record.state == 'c')
  if held then redis.call('ZADD', leases, now + ARGV[1], ARGV[at]) end
  answers[#answers + 1] = not held and 0 or record.state == 'l' and 1 or 2
end
return answers
