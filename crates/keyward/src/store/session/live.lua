-- Does something to a session that is live, and nothing to one that is not.
-- KEYS: the session, its tombstone, its end, then other keys that revoke it.
-- ARGV: the TTL in ms that starts again (0: none does); the field that is set to the time, or ''; what it holds; the commands.
-- Returns the answers of the commands; nothing if the session is gone or revoked.
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[2]) == 1 then return false end
for at = 4, #KEYS do
  if redis.call('EXISTS', KEYS[at]) == 1 then return false end
end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], ARGV[2], stamp(ARGV[3])) end
local answers = run(KEYS[1], 4)
if ARGV[1] ~= '0' then
  -- Of a session that another program made no end is known: its TTL runs out.
  local till = redis.call('GET', KEYS[3])
  if till then
    redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.min(tonumber(ARGV[1]), tonumber(till) - now)))
  end
end
return answers
