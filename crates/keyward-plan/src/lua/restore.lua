-- Brings back what was saved, if nothing has its name and its time is not over.
-- KEYS: the key, a name for a moment, and the other name under which it was as well, if it can be asked here. ARGV: its value as DUMP gave it; when it ends in ms since 1970, or -1;
--   1 if that other name is gone.
-- Returns 0 its time is over, 1 done, 2 the same already, 3 taken, or deleted under the other name.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local ends = tonumber(ARGV[2])
if ends ~= -1 and ends <= now then return 0 end
local function restore(key) redis.call('RESTORE', key, string.format('%.0f', math.max(ends, 0)), ARGV[1], 'ABSTTL') end
if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[3] == '1' or KEYS[3] and redis.call('EXISTS', KEYS[3]) == 0 then return 3 end
  restore(KEYS[1])
  return 1
end
redis.call('UNLINK', KEYS[2])
restore(KEYS[2])
local there = same(KEYS[1], KEYS[2])
redis.call('UNLINK', KEYS[2])
if there then return 2 end
return 3
