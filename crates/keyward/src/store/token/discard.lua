-- Removes a successor that nobody has used. KEYS: the successor, what became of it. ARGV: the token before it.
if redis.call('HGET', KEYS[2], 'pending') == ARGV[1] then redis.call('UNLINK', KEYS[1], KEYS[2]) end
return 1
