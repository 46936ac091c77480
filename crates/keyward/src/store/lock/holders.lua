-- Who holds a lock. KEYS: the lock. ARGV: how many may hold it at once.
-- Returns pairs of a holder and the ms until it expires (-1: never); with several places, a holder's name is followed
-- by a space and its attempt.
if tonumber(ARGV[1]) == 1 then
  local holder = redis.call('GET', KEYS[1])
  if not holder then return false end
  return {{holder, redis.call('PTTL', KEYS[1])}}
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('ZRANGE', KEYS[1], '(' .. now, '+inf', 'BYSCORE', 'WITHSCORES')
local holders = {}
for at = 1, #held, 2 do holders[#holders + 1] = {held[at], held[at + 1] - now} end
return holders
