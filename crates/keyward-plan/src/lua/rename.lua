-- Renames keys, each in one step with what must hold: some hundred at once, since a call costs more than a rename.
-- KEYS: each key, then its new name. ARGV: the type that each must have, or nothing.
-- Returns for each: 0 gone, 1 done, 3 taken, 4 another type.
local outcomes = {}
for at = 1, #KEYS, 2 do
  local kind, wanted = redis.call('TYPE', KEYS[at]).ok, ARGV[(at + 1) / 2]
  local outcome = 4
  if kind == 'none' then outcome = 0
  elseif wanted == '' or kind == wanted then outcome = 3 - 2 * redis.call('RENAMENX', KEYS[at], KEYS[at + 1]) end
  outcomes[#outcomes + 1] = outcome
end
return outcomes
