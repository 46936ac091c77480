-- Lets one key end earlier.
-- KEYS: the key. ARGV: 1 to do it and 0 to look; when it ends now, as it was saved; ms from now; 1 if only a key
--   without an end is meant.
-- Returns 0 gone, 1 done, 2 it ends early enough, 5 not saved.
local ends, left = redis.call('PEXPIRETIME', KEYS[1]), redis.call('PTTL', KEYS[1])
if ends == -2 then return 0 end
if left >= 0 and (ARGV[4] == '1' or left <= tonumber(ARGV[3])) then return 2 end
if ARGV[1] == '0' then return 1 end
if tostring(ends) ~= ARGV[2] then return 5 end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
