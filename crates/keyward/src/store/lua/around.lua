-- Where a member of a sorted set stands, counted from the highest score, and who stands around it.
-- KEYS: the names of the set, the first one that has the member decides. ARGV: member, how many on each side.
-- Returns its rank, the rank of the first that follows, and members with scores; nothing if it is not there.
for _, key in ipairs(KEYS) do
  local rank = redis.call('ZREVRANK', key, ARGV[1])
  if rank then
    local first = math.max(rank - tonumber(ARGV[2]), 0)
    return {rank, first, redis.call('ZRANGE', key, first, rank + tonumber(ARGV[2]), 'REV', 'WITHSCORES')}
  end
end
return false
