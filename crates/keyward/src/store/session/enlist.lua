-- Lists a session until its end, and drops those whose ends are over. Where the index is a sorted set, it holds the ends
-- itself. `unit` is that of the ends in ms. Returns whether there is room.
local function enlist(index, ends, member, till, ttl, unit, most)
  local over = redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%.0f', math.floor(now / unit)), 'LIMIT', 0, 1000)
  if #over > 0 then
    if index ~= ends then redis.call('SREM', index, unpack(over)) end
    redis.call('ZREM', ends, unpack(over))
  end
  local there = redis.call('ZSCORE', ends, member)
  if most > 0 and not there then
    local length
    if index == ends then length = redis.call('ZCARD', index) else length = redis.call('SCARD', index) end
    if length >= most then return false end
  end
  if index ~= ends then redis.call('SADD', index, member) end
  redis.call('ZADD', ends, string.format('%.0f', math.ceil(till / unit)), member)
  for _, key in ipairs({index, ends}) do
    if ttl > 0 and redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, string.format('%.0f', ttl)) end
  end
  return true
end
