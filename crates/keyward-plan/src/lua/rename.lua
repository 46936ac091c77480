-- Renames keys, each in one step with what must hold: many at once, since a call costs more than a rename.
-- KEYS: each key, then its new name. ARGV: a command that fails for keys of another type than theirs, and answers 0 to
--   one that is gone; TYPE would cost half as much again, since its answer is a table.
-- Returns the place and the outcome of each that was not renamed: 0 gone, 3 taken, 4 another type.
local call, try, type, keys, ask, left = redis.call, redis.pcall, type, KEYS, ARGV[1], {}
for at = 1, #keys, 2 do
  local from, outcome = keys[at], nil
  local answer = try(ask, from)
  if type(answer) == 'table' then
    if string.sub(answer.err, 1, 9) ~= 'WRONGTYPE' then return answer end
    outcome = 4
  elseif answer == 0 and call('EXISTS', from) == 0 then outcome = 0
  elseif call('RENAMENX', from, keys[at + 1]) == 0 then outcome = 3 end
  if outcome then
    left[#left + 1] = (at - 1) / 2
    left[#left + 1] = outcome
  end
end
return left
