-- Brings back what was saved, if nothing has its name and its time is not over.
-- KEYS: the key. ARGV: its value as DUMP gave it; when it ends in ms since 1970, or -1.
-- Returns 0 its time is over, 1 done, 2 the same already, 3 taken.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local ends = tonumber(ARGV[2])
if redis.call('EXISTS', KEYS[1]) == 1 then
  if redis.call('DUMP', KEYS[1]) == ARGV[1] then return 2 end
  return 3
end
if ends ~= -1 and ends <= now then return 0 end
if ends == -1 then ends = 0 end
redis.call('RESTORE', KEYS[1], string.format('%.0f', ends), ARGV[1], 'ABSTTL')
return 1
