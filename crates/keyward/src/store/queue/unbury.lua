-- Removes a dead letter, and its note unless an equal letter is left; how many it removed. `notes` is false where letters
-- have none.
local function unbury(dead, notes, letter)
  local removed = redis.call('LREM', dead, 1, letter)
  if notes and not redis.call('LPOS', dead, letter) then redis.pcall('HDEL', notes, redis.sha1hex(letter)) end
  return removed
end
