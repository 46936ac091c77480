-- Revokes a session, whether it is there or not: nothing makes it again while its tombstone stands.
-- KEYS: the session, its tombstone, its end, then the keys that say so to other programs.
-- ARGV: ms that the tombstone stands; ms that the others stand (0: for ever); what they hold; the fields that decide its index.
-- Returns whether it was live, then the fields.
local live = redis.call('EXISTS', KEYS[1])
if redis.call('EXISTS', KEYS[2]) == 1 then live = 0 end
local answer = {live}
for at = 4, #ARGV do
  -- Whatever stands there, it goes.
  local value = redis.pcall('HGET', KEYS[1], ARGV[at])
  if type(value) == 'table' then value = false end
  answer[#answer + 1] = value
end
redis.call('SET', KEYS[2], 'revoked', 'PX', ARGV[1])
redis.call('UNLINK', KEYS[1], KEYS[3])
for at = 4, #KEYS do
  redis.call('SET', KEYS[at], stamp(ARGV[3]))
  if ARGV[2] ~= '0' then redis.call('PEXPIRE', KEYS[at], ARGV[2]) end
end
return answer
