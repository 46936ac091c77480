-- Gives a session another id: the same data, the same end.
-- KEYS: the session, its tombstone, its end; the same of the new id; as many keys that revoke it as ARGV[6] says; index and ends, if there are.
-- ARGV: ms that the tombstone stands; what the index holds of the old and of the new id; the index's TTL in ms and unit; the number of other
--   revocations; the fields that decide the index, and their values.
-- Returns 1; 0 if it is not live; -1 if another index lists it by now.
local revocations = tonumber(ARGV[6])
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
for at = 7, 6 + revocations do
  if redis.call('EXISTS', KEYS[at]) == 1 then return 0 end
end
for at = 7, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[at]) ~= ARGV[at + 1] then return -1 end
end
local till = redis.call('GET', KEYS[3])
local last = till and tonumber(till) or now + redis.call('PTTL', KEYS[1])
-- It is listed first: what cannot be listed is not made.
local index, ends = KEYS[7 + revocations], KEYS[8 + revocations]
if index then enlist(index, ends, ARGV[3], last, tonumber(ARGV[4]), tonumber(ARGV[5]), 0) end
if till then redis.call('RENAME', KEYS[3], KEYS[6]) end
redis.call('RENAME', KEYS[1], KEYS[4])
redis.call('SET', KEYS[2], 'rotated', 'PX', ARGV[1])
if index then
  if index ~= ends then redis.call('SREM', index, ARGV[2]) end
  redis.call('ZREM', ends, ARGV[2])
end
return 1
