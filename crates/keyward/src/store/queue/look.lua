-- What is known of a job: its record, its progress and its result. ARGV: its id.
local ticket = redis.call('HGET', jobs, 'i:' .. ARGV[1])
if not ticket then return false end
return redis.call('HMGET', jobs, 'm:' .. ticket, 'o:' .. ticket, 'r:' .. ticket)
