-- Lists a session, from another slot. KEYS: index, ends. ARGV: what the index holds of it, its end in ms from now or, if
-- ARGV[3] is 1, since 1970, the index's TTL in ms, unit and bound. Returns whether there is room.
local till = tonumber(ARGV[2])
if ARGV[3] == '0' then till = now + till end
if enlist(KEYS[1], KEYS[2], ARGV[1], till, tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])) then return 1 end
return 0
