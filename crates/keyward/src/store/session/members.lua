-- The sessions of an index whose ends are not over; the others are dropped.
-- KEYS: index, ends. ARGV: ms that a session may live of which no end is known, because another program listed it; unit.
local index, ends, unit = KEYS[1], KEYS[2], tonumber(ARGV[2])
local over = redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%.0f', math.floor(now / unit)))
for at = 1, #over do
  if index ~= ends then redis.call('SREM', index, over[at]) end
  redis.call('ZREM', ends, over[at])
end
if index ~= ends then
  local till = string.format('%.0f', now + tonumber(ARGV[1]))
  for _, member in ipairs(redis.call('SMEMBERS', index)) do redis.call('ZADD', ends, 'NX', till, member) end
  local left = redis.call('PTTL', index)
  if left > 0 and redis.call('PTTL', ends) < left then redis.call('PEXPIRE', ends, left) end
end
return redis.call('ZRANGE', ends, 0, -1)
