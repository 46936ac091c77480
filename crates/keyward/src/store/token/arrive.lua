-- Makes a successor that cannot be used yet. KEYS: the successor, what became of it.
-- ARGV: the token before it; the value (DUMP); TTL in ms; the field that is set to the time, or ''; what it holds; the commands.
-- Returns its fields; nothing if it is there already.
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 and redis.call('HGET', KEYS[2], 'pending') ~= ARGV[1] then return false end
redis.call('HSET', KEYS[2], 'pending', ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('RESTORE', KEYS[1], ARGV[3], ARGV[2], 'REPLACE')
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], ARGV[4], stamp(ARGV[5])) end
run(KEYS[1], 6)
return redis.call('HGETALL', KEYS[1])
