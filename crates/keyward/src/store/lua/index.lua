-- Notes in an index that a key may exist until its time is over. KEYS: index. ARGV: key, ms from now (0: for ever).
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local live = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local rest = redis.call('PTTL', KEYS[1])
if live == 0 then
  redis.call('ZADD', KEYS[1], '+inf', ARGV[1])
  redis.call('PERSIST', KEYS[1])
else
  redis.call('ZADD', KEYS[1], 'GT', string.format('%.0f', now + live), ARGV[1])
  if rest ~= -1 and rest < live then redis.call('PEXPIRE', KEYS[1], live) end
end
return 1
