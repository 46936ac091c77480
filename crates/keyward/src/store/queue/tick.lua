-- The server's time, and the last tick of a repeating job. ARGV: its name.
return { now, redis.call('HGET', jobs, 'c:' .. ARGV[1]) }
