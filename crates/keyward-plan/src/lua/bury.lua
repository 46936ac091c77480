-- Brings a dead letter back that was removed.
-- KEYS: the dead letters, and the hash of its note where it had one. ARGV: the letter; its note; when the list ended in
--   ms since 1970, or -1.
-- Returns 0 its time is over, 1 done.
local dead, letter, ends = KEYS[1], ARGV[1], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if ends ~= -1 and ends <= now then return 0 end
local is_new = redis.call('EXISTS', dead) == 0
redis.call('RPUSH', dead, letter)
if is_new and ends ~= -1 then redis.call('PEXPIREAT', dead, ARGV[3]) end
if KEYS[2] then
  redis.call('HSETNX', KEYS[2], redis.sha1hex(letter), ARGV[2])
  if redis.call('PTTL', KEYS[2]) < 0 then
    redis.call('PEXPIREAT', KEYS[2], string.format('%.0f', ends ~= -1 and ends or now + 2592000000))
  end
end
return 1
