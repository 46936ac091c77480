-- Removes a member that names a key which is gone or says otherwise.
-- KEYS: the set, and the key that the member names where one step can look at it. ARGV: the member; its score as it was
--   saved, or nothing in a set; the field of that key that says otherwise, or nothing if the key is gone; what it says.
-- Returns 0 gone, 1 done, 2 not a member any more, or with another score, 6 the key is there again or agrees.
local set, own, member, score, field = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local kind = redis.call('TYPE', set).ok
if kind == 'none' then return 0 end
if own and field == '' and redis.call('EXISTS', own) == 1 then return 6 end
if own and field ~= '' then
  if redis.call('TYPE', own).ok ~= 'hash' or redis.call('HGET', own, field) ~= ARGV[4] then return 6 end
end
if kind == 'set' and redis.call('SREM', set, member) == 1 then return 1 end
if kind == 'zset' and redis.call('ZSCORE', set, member) == score then return redis.call('ZREM', set, member) end
return 2
