-- Ends a change across slots: the reverse lets go of sets that have lost the member, unless a later change is about them.
-- KEYS: the reverse, its versions. ARGV: the version of the change; what the reverse holds of those sets.
for at = 2, #ARGV do
  if redis.call('HGET', KEYS[2], ':' .. ARGV[at]) == ARGV[1] then
    redis.call('SREM', KEYS[1], ARGV[at])
    redis.call('HDEL', KEYS[2], ':' .. ARGV[at])
  end
end
return 1
