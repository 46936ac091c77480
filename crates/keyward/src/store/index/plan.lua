-- Begins a change across slots: the reverse holds every set that may hold the member, until the change is done.
-- KEYS: the reverse, its versions. ARGV: 1 if the member is to be in these sets only, 2 if it must not be in
--   those that lose it by the reverse; bound, TTL and keeping of the reverse; how many sets gain
--   the member; what the reverse holds of those, then of those that lose it.
-- Returns the version of the change, then what loses the member; nothing at all if that is not so; nil if the reverse is full.
local gain, last = tonumber(ARGV[5]), redis.call('HGET', KEYS[2], 'last')
local version = now
if last then version = math.max(now, tonumber(last) + 1) end
version = string.format('%.0f', version)
local stays, losing, new = {}, {}, 0
for at = 6, 5 + gain do
  stays[ARGV[at]] = true
  new = new + 1 - redis.call('SISMEMBER', KEYS[1], ARGV[at])
end
if ARGV[2] ~= '0' and new > 0 and redis.call('SCARD', KEYS[1]) + new > tonumber(ARGV[2]) then return false end
if ARGV[1] == '1' then
  for _, word in ipairs(redis.call('SMEMBERS', KEYS[1])) do
    if not stays[word] then losing[#losing + 1] = word end
  end
else
  for at = 6 + gain, #ARGV do
    if ARGV[1] == '2' and redis.call('SISMEMBER', KEYS[1], ARGV[at]) == 1 then return {} end
    losing[#losing + 1] = ARGV[at]
  end
end
for at = 6, 5 + gain do
  redis.call('SADD', KEYS[1], ARGV[at])
  redis.call('HSET', KEYS[2], ':' .. ARGV[at], version)
end
for _, word in ipairs(losing) do redis.call('HSET', KEYS[2], ':' .. word, version) end
live(KEYS[1], ARGV[3], ARGV[4])
redis.call('HSET', KEYS[2], 'last', version)
redis.call('PEXPIRE', KEYS[2], 600000)
return {version, unpack(losing)}
