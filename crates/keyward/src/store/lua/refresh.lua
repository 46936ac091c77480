-- Marks a value as due to be loaded again, and ends the loads that have begun: what they read may be older.
-- KEYS: the key, its lease, its mark that there is none, its mark that it is due. Returns whether the key was there.
-- A full server takes the mark all the same, since the script has written something before: see `script.c` of Redis 7.
redis.call('UNLINK', KEYS[2], KEYS[3])
local left = redis.call('PTTL', KEYS[1])
-- What never expires was written by somebody else, and its mark would never expire either: it is removed.
if left <= 0 then
  redis.call('UNLINK', KEYS[4])
  return redis.call('UNLINK', KEYS[1])
end
redis.call('SET', KEYS[4], '', 'PX', left)
-- Those who keep it in their process hear that it has changed.
redis.call('PEXPIREAT', KEYS[1], redis.call('PEXPIRETIME', KEYS[1]))
return 1
