-- Makes one name of a key hold what another slot has decided, unless it holds something newer.
-- KEYS: the name, the version beside it, then what else stands beside it, leases among it.
-- ARGV: how many of these end with every copy, the version, when the key expires (-1: never), and the value as DUMP
--   gives it; without one, the key was removed, and all that stands beside it goes with it.
for at = 3, 2 + tonumber(ARGV[1]) do redis.call('UNLINK', KEYS[at]) end
if (tonumber(redis.call('GET', KEYS[2]) or 0) or 0) > tonumber(ARGV[2]) then return end
if ARGV[4] ~= '' then
  redis.call('RESTORE', KEYS[1], math.max(tonumber(ARGV[3]), 0), ARGV[4], 'REPLACE', 'ABSTTL')
else
  redis.call('UNLINK', KEYS[1])
  for at = 3, #KEYS do redis.call('UNLINK', KEYS[at]) end
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', 3600000)
