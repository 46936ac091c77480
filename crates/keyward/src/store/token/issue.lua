-- Makes a token that begins a family. KEYS: the token, what became of it. ARGV: TTL in ms; the commands.
-- Returns whether it was free.
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
run(KEYS[1], 2)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
