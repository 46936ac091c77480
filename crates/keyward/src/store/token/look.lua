-- Looks at a token. KEYS: the token, what became of it. ARGV: how long it is answered after its use, in ms.
-- Returns its state and, by that: live: DUMP, TTL in ms, the fields; repeated, reused: its successor.
local became = redis.call('HMGET', KEYS[2], 'revoked', 'next', 'used', 'pending')
if became[1] then return {'revoked'} end
if became[2] then
  if now - tonumber(became[3]) <= tonumber(ARGV[1]) then return {'repeated', became[2]} end
  return {'reused', became[2]}
end
if became[4] or redis.call('EXISTS', KEYS[1]) == 0 then return {'gone'} end
return {'live', redis.call('DUMP', KEYS[1]), redis.call('PTTL', KEYS[1]), redis.call('HGETALL', KEYS[1])}
