-- Lets a successor be used. KEYS: the successor, what became of it. ARGV: the token before it. Returns whether it can be used.
if redis.call('HGET', KEYS[2], 'pending') == ARGV[1] then redis.call('HDEL', KEYS[2], 'pending') end
if redis.call('HEXISTS', KEYS[2], 'revoked') == 1 then return 0 end
return 1
