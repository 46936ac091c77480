-- Removes a queue or dead letters under an old name, if nothing is left there.
-- KEYS: the list or the stream, and what stands beside it: of a queue ~jobs, ~taken, ~leases, ~due, ~ready and ~done, of
--   dead letters the notes about them.
-- ARGV: 1 to do it and 0 to look; the digest of what was saved; its type; the place in KEYS of the key that was found.
-- Returns 0 gone, 1 done, 4 another type, 5 not saved, 9 not empty, 10 found by an earlier one of its keys.
local found
for at = #KEYS, 1, -1 do
  if redis.call('EXISTS', KEYS[at]) == 1 then found = at end
end
if not found then return 0 end
if found ~= tonumber(ARGV[4]) then return 10 end
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'none' and kind ~= ARGV[3] then return 4 end
if kind == 'list' or kind == 'stream' and redis.call('XLEN', KEYS[1]) > 0 then return 9 end
if #KEYS == 7 then
  if redis.call('EXISTS', unpack(KEYS, 3, 6)) > 0 then return 9 end
  -- What is left in ~jobs are counters, and jobs that have ended and are kept until their time is over.
  local time, cursor = redis.call('TIME'), '0'
  repeat
    local page = redis.pcall('HSCAN', KEYS[2], cursor, 'MATCH', 'm:*', 'COUNT', 1000)
    if page.err then return 4 end
    for at = 1, #page[2], 2 do
      local ticket, record = string.sub(page[2][at], 3), page[2][at + 1]
      local ends = redis.pcall('ZSCORE', KEYS[7], ticket) or 0
      if string.sub(record, 1, 1) ~= 'k' or type(ends) == 'table' or tonumber(ends) > time[1] * 1000 then return 9 end
    end
    cursor = page[1]
  until cursor == '0'
end
if ARGV[1] == '0' then return 1 end
local key = KEYS[found]
if redis.sha1hex(redis.call('DUMP', key) .. redis.call('PEXPIRETIME', key)) ~= ARGV[2] then return 5 end
redis.call('UNLINK', unpack(KEYS))
return 1
