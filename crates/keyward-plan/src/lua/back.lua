-- Takes a copy back: the value goes to the old name if it has changed there, and the new name is given up.
-- KEYS: the old name, the new one. ARGV: 1 if the new name counts, so that its value is taken to the old one.
-- Returns 0 gone, 1 done, 3 the names differ and the old one counts.
local old, new = KEYS[1], KEYS[2]
if redis.call('EXISTS', new) == 0 then return 0 end
if not same(old, new) then
  if ARGV[1] ~= '1' then return 3 end
  redis.call('COPY', new, old, 'REPLACE')
end
redis.call('UNLINK', new)
return 1
