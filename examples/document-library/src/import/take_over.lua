#!lua flags=allow-oom
-- Takes a document over from whoever writes it, for a full server, which gives no lock to anybody: from now on a lower fence
-- is refused. The next lock has a higher one, since both are the server's time in microseconds.
-- KEYS: 1 the document's fence. ARGV: 1 how long it is remembered, in ms.
-- Returns the fence.
local time = redis.call('TIME')
local fence = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[1]) or 0) + 1)
fence = string.format('%.0f', fence)
redis.call('SET', KEYS[1], fence, 'PX', ARGV[1])
return fence
