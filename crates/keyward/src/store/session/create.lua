-- Makes a session, which is listed first.
-- KEYS: the session, its tombstone, its end, as many keys that revoke it as ARGV[7] says, then index and ends if they share the slot.
-- ARGV: the TTL in ms; when it ends at the latest, in ms from now (0: with its TTL); what the index holds of it; the index's
--   TTL in ms (0: none), unit and bound; the number of other revocations; the commands.
-- Returns 1; 0 if there is one; -1 if it was revoked; -2 if the index is full.
local revocations = tonumber(ARGV[7])
if redis.call('EXISTS', KEYS[2]) == 1 then return -1 end
for at = 4, 3 + revocations do
  if redis.call('EXISTS', KEYS[at]) == 1 then return -1 end
end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local ttl, age = tonumber(ARGV[1]), tonumber(ARGV[2])
local till = now + math.max(ttl, age)
local index, ends = KEYS[4 + revocations], KEYS[5 + revocations]
if index and not enlist(index, ends, ARGV[3], till, tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])) then return -2 end
run(KEYS[1], 8)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
if age > 0 then redis.call('SET', KEYS[3], string.format('%.0f', till), 'PX', string.format('%.0f', till - now)) end
return 1
