-- Runs commands, all or none: first it looks whether everything that is added fits.
-- ARGV, from 3, for each command: the highest number of members its key may have (0: any), how many arguments follow,
--   and these: the command, its key, and the rest.
local last = #ARGV
local at = 3
while at <= last do
  local bound, count = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  if bound > 0 then
    local sorted, key = ARGV[at + 2] == 'ZADD', ARGV[at + 3]
    local has = redis.call(sorted and 'ZCARD' or 'SCARD', key)
    if has + count - 2 > bound then
      for member = at + (sorted and 5 or 4), at + 1 + count, sorted and 2 or 1 do
        local known
        if sorted then known = redis.call('ZSCORE', key, ARGV[member])
        else known = redis.call('SISMEMBER', key, ARGV[member]) == 1 end
        if not known then has = has + 1 end
      end
      if has > bound then return redis.error_reply('FULL ' .. key) end
    end
  end
  at = at + 2 + count
end
at = 3
while at <= last do
  local count = tonumber(ARGV[at + 1])
  redis.call(unpack(ARGV, at + 2, at + 1 + count))
  at = at + 2 + count
end
return 1
