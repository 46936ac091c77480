-- Revokes one token. KEYS: the token, what became of it. ARGV: how long that is remembered, in ms. Returns its successor, if it has one.
local after = redis.call('HGET', KEYS[2], 'next')
redis.call('HSET', KEYS[2], 'revoked', '1')
redis.call('HDEL', KEYS[2], 'pending')
redis.call('PEXPIRE', KEYS[2], ARGV[1])
redis.call('UNLINK', KEYS[1])
return after
