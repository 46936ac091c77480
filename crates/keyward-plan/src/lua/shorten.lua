-- Lets one key end earlier.
-- KEYS: the key. ARGV: 1 to do it and 0 to look; late for keys that end later than they should or never, never for those
--   that never end, after for those that end but later than they should; ms from now within which it should end; when it
--   ends now, as it was saved; when it is to end.
-- Returns 0 gone, 1 done, 2 it ends early enough or is not meant, 5 not saved.
local whose, ends, left = ARGV[2], redis.call('PEXPIRETIME', KEYS[1]), redis.call('PTTL', KEYS[1])
if ends == -2 then return 0 end
if ends == -1 then
  if whose == 'after' then return 2 end
elseif whose == 'never' or left <= tonumber(ARGV[3]) then return 2 end
if ARGV[1] == '0' then return 1 end
if tostring(ends) ~= ARGV[4] then return 5 end
redis.call('PEXPIREAT', KEYS[1], ARGV[5])
return 1
