-- Dead letters, each with its note if it has one. KEYS: the dead letters, and their notes if they have some. ARGV: the first
-- and the last.
local found = redis.call('LRANGE', KEYS[1], ARGV[1], ARGV[2])
for at, letter in ipairs(found) do
  found[at] = { letter, KEYS[2] and redis.call('HGET', KEYS[2], redis.sha1hex(letter)) or false }
end
return found
