-- Reads a whole key in one step. KEYS: the key.
-- Returns nothing if it is gone, or its type, its digest, when it ends in ms since 1970 (-1: never), and its content.
local key = KEYS[1]
local kind = redis.call('TYPE', key).ok
if kind == 'none' then return false end
local content = {}
if kind == 'string' then content = { redis.call('GET', key) }
elseif kind == 'hash' then content = redis.call('HGETALL', key)
elseif kind == 'list' then content = redis.call('LRANGE', key, 0, -1)
elseif kind == 'set' then content = redis.call('SMEMBERS', key)
elseif kind == 'zset' then content = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
elseif kind == 'stream' then content = redis.call('XRANGE', key, '-', '+') end
local ends = redis.call('PEXPIRETIME', key)
return { kind, redis.sha1hex(redis.call('DUMP', key) .. ends), ends, content }
