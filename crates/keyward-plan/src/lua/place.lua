-- Puts a value that was read elsewhere under a name, if nobody has written it since.
-- KEYS: the name, the lease beside it.
-- ARGV: the token of the lease; the digest of the value that may be replaced, or nothing if there is none; when it
--   ends in ms since 1970, or -1; the value as DUMP gives it, or nothing and then commands, each as the number of its
--   arguments, its name and its arguments behind the key.
-- Returns the digest of what stands there now, or nothing if it was not put there.
local key = KEYS[1]
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return false end
redis.call('DEL', KEYS[2])
local function digest() return redis.sha1hex(redis.call('DUMP', key) .. redis.call('PEXPIRETIME', key)) end
local there = ''
if redis.call('EXISTS', key) == 1 then there = digest() end
if there ~= ARGV[2] then return false end
local ends = tonumber(ARGV[3])
if ARGV[4] ~= '' then
  redis.call('RESTORE', key, math.max(ends, 0), ARGV[4], 'REPLACE', 'ABSTTL')
else
  redis.call('UNLINK', key)
  local at = 5
  while at <= #ARGV do
    local count = tonumber(ARGV[at])
    redis.call(ARGV[at + 1], key, unpack(ARGV, at + 2, at + count))
    at = at + count + 1
  end
  if ends ~= -1 then redis.call('PEXPIREAT', key, ARGV[3]) end
end
if redis.call('EXISTS', key) == 0 then return '' end
return digest()
