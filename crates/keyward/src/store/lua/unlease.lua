-- Gives a lease back, if it is still ours. KEYS: lease. ARGV: token.
local held = redis.call('GET', KEYS[1])
if held and held:sub(1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
