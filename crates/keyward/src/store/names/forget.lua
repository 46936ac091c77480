-- Removes a key under all its names in one slot, with all that was derived from them, and the leases of whoever is about
-- to fill it.
-- KEYS: the names, their derived keys, as many indexes as ARGV[2] says, which know the key as ARGV[3], and if names of
--   other slots follow, the lease of the name that counts and its version.
-- ARGV: how many names, how many indexes, the name that they know, and the clock and the floor of the version or ''.
-- Returns whether the key was there; where names of other slots follow, that and what they are to hold.
local stamped = ARGV[4] ~= ''
local names, ends = tonumber(ARGV[1]), #KEYS
if stamped then ends = ends - 2 end
local there, indexes = 0, ends - tonumber(ARGV[2])
for at = 1, indexes do
  local gone = redis.call('UNLINK', KEYS[at])
  if at <= names and gone == 1 then there = 1 end
end
for at = indexes + 1, ends do redis.call('ZREM', KEYS[at], ARGV[3]) end
if not stamped then return there end
-- Until the names of other slots are gone, nobody moves one of them here. Who loads may take the lease: see `lease.lua`.
redis.call('SET', KEYS[#KEYS - 1], 'removed', 'PX', 3600000)
return {there, {stamp(KEYS[#KEYS], ARGV[4], ARGV[5]), -2, false}}
