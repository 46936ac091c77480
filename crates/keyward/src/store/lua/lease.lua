-- Takes a lease for a fill, unless the key is there by now. KEYS: key, lease, indexes.
-- ARGV: token, lease in ms, whether what stands under the key is to be replaced (1), the name that indexes know,
--   whether reads start the TTL again (1).
-- Returns 1 if it was taken, 0 if somebody else has it, 2 if there is a value to read.
local there = redis.call('EXISTS', KEYS[1]) == 1
if ARGV[3] ~= '1' and there then
  return 2
end
-- What is to be replaced is remembered behind the token: a fill replaces nothing that was written later. A write
-- moves the end of the key; where it has none, or reads move it too, the value itself is told apart.
local seen = ''
if there then
  seen = redis.call('PEXPIRETIME', KEYS[1])
  if seen == -1 or ARGV[5] == '1' then seen = redis.sha1hex(redis.call('DUMP', KEYS[1])) end
end
if not redis.call('SET', KEYS[2], ARGV[1] .. seen, 'NX', 'PX', ARGV[2]) then
  -- A delete leaves a lease, so that nobody moves the key back from another slot; it does not stop a load.
  if redis.call('GET', KEYS[2]) ~= 'removed' then return 0 end
  redis.call('SET', KEYS[2], ARGV[1] .. seen, 'PX', ARGV[2])
end
-- An event that looks for keys in an index must find the lease of one that is not there yet.
if #KEYS > 2 then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  for at = 3, #KEYS do
    local rest = redis.call('PTTL', KEYS[at])
    redis.call('ZADD', KEYS[at], 'GT', string.format('%.0f', now + tonumber(ARGV[2])), ARGV[4])
    if rest ~= -1 and rest < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[at], ARGV[2]) end
  end
end
return 1
