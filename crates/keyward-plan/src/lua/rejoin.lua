-- Brings a member back into its set, and the set where that was its last one.
-- KEYS: the set. ARGV: the member; its score, or nothing in a set; when the set ended in ms since 1970, or -1.
-- Returns 0 its time is over, 1 done, 2 it is a member already, 3 the key has another type by now.
local set, member, score, ends = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local kind = redis.call('TYPE', set).ok
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if kind == 'none' and ends ~= -1 and ends <= now then return 0 end
if kind ~= 'none' and kind ~= (score == '' and 'set' or 'zset') then return 3 end
if score == '' then
  if redis.call('SADD', set, member) == 0 then return 2 end
else
  if redis.call('ZSCORE', set, member) then return 2 end
  redis.call('ZADD', set, score, member)
end
if kind == 'none' and ends ~= -1 then redis.call('PEXPIREAT', set, ARGV[3]) end
return 1
