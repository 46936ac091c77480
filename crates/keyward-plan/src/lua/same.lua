-- Whether two keys hold the same until the same time. The members of a set or a hash have no order, so that equal ones
-- may be stored differently.
local function same(one, other)
  local kind = redis.call('TYPE', one).ok
  if kind ~= redis.call('TYPE', other).ok then return false end
  if redis.call('PEXPIRETIME', one) ~= redis.call('PEXPIRETIME', other) then return false end
  if redis.call('DUMP', one) == redis.call('DUMP', other) then return true end
  if kind == 'set' then
    return redis.call('SCARD', one) == redis.call('SCARD', other) and #redis.call('SDIFF', one, other) == 0
  end
  local a, b = {}, {}
  if kind == 'hash' then
    a, b = redis.call('HGETALL', one), redis.call('HGETALL', other)
    local fields = {}
    for at = 1, #b, 2 do fields[b[at]] = b[at + 1] end
    for at = 1, #a, 2 do
      if fields[a[at]] ~= a[at + 1] then return false end
    end
    return #a == #b
  elseif kind == 'zset' then
    a, b = redis.call('ZRANGE', one, 0, -1, 'WITHSCORES'), redis.call('ZRANGE', other, 0, -1, 'WITHSCORES')
  elseif kind == 'list' then
    a, b = redis.call('LRANGE', one, 0, -1), redis.call('LRANGE', other, 0, -1)
  else
    return false
  end
  for at = 1, #a do
    if a[at] ~= b[at] then return false end
  end
  return #a == #b
end

