-- Exchanges a token for its successor. KEYS: the token, what became of it, the successor, what became of that.
-- ARGV: how long a token is answered after its use, in ms; the successor's name; its TTL in ms; the field that is set to the
--   time, or ''; what it holds; the commands that change the successor's fields.
-- Returns live and the successor's fields; repeated or reused and the successor; revoked, gone, or taken if the successor
-- is there already.
local became = redis.call('HMGET', KEYS[2], 'revoked', 'next', 'used', 'pending')
if became[1] then return {'revoked'} end
if became[2] then
  if now - tonumber(became[3]) <= tonumber(ARGV[1]) then return {'repeated', became[2]} end
  return {'reused', became[2]}
end
if became[4] or redis.call('EXISTS', KEYS[1]) == 0 then return {'gone'} end
if redis.call('EXISTS', KEYS[3], KEYS[4]) > 0 then return {'taken'} end
local left = redis.call('PTTL', KEYS[1])
redis.call('RENAME', KEYS[1], KEYS[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[4], stamp(ARGV[5])) end
run(KEYS[3], 6)
redis.call('PEXPIRE', KEYS[3], ARGV[3])
redis.call('HSET', KEYS[2], 'next', ARGV[2], 'used', string.format('%.0f', now))
-- A token without a TTL was made by another program.
if left < 0 then left = ARGV[3] end
redis.call('PEXPIRE', KEYS[2], left)
return {'live', redis.call('HGETALL', KEYS[3])}
