-- Puts a member into sets and removes it from others, with its reverse, in one step.
-- KEYS: the sets that gain it, the sets that lose it, then its reverse and the versions beside that, if it has a reverse.
-- ARGV: how many sets gain it and how many lose it; the member; the bound, TTL and keeping of a set; the same of the reverse (a
--   bound or TTL of 0 is none); 1 if the reverse must hold nothing but what follows, 2 if it must
--   hold nothing of it; what the reverse holds of the sets that gain
--   the member, then of those that lose it, then what else it is to lose.
-- Returns 1; -1 if a set is full; -2 if the reverse is; -3 if the reverse holds something else.
local gain, lose, member = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local most, reverse, versions = tonumber(ARGV[4]), KEYS[gain + lose + 1], KEYS[gain + lose + 2]
-- Keys of another type are refused here, before anything is changed.
for at = 1, gain + lose do redis.call('SISMEMBER', KEYS[at], member) end
if versions then redis.call('HLEN', versions) end
for at = 1, gain do
  if most > 0 and redis.call('SISMEMBER', KEYS[at], member) == 0 and redis.call('SCARD', KEYS[at]) >= most then return -1 end
end
if reverse then
  local known, new = 0, 0
  for at = 11, #ARGV do
    local there = redis.call('SISMEMBER', reverse, ARGV[at])
    known = known + there
    if at < 11 + gain then new = new + 1 - there else new = new - there end
  end
  local length = redis.call('SCARD', reverse)
  if (ARGV[10] == '1' and known ~= length) or (ARGV[10] == '2' and known > 0) then return -3 end
  if ARGV[7] ~= '0' and new > 0 and length + new > tonumber(ARGV[7]) then return -2 end
end
for at = 1, gain do
  redis.call('SADD', KEYS[at], member)
  live(KEYS[at], ARGV[5], ARGV[6])
end
for at = gain + 1, gain + lose do redis.call('SREM', KEYS[at], member) end
if reverse then
  for at = 11, 10 + gain do redis.call('SADD', reverse, ARGV[at]) end
  for at = 11 + gain, #ARGV do redis.call('SREM', reverse, ARGV[at]) end
  live(reverse, ARGV[8], ARGV[9])
  redis.call('HSET', versions, 'last', string.format('%.0f', now))
  redis.call('PEXPIRE', versions, 600000)
end
return 1
