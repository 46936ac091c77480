-- Moves or copies one key to another name, in one step with what must hold.
-- KEYS: the key, its new name, and the fences of both where it is a lock.
-- ARGV: 1 to do it and 0 to look; over, absent or rename; the type it must have, or nothing; the digest of the
--   value that may be replaced, or nothing.
-- Returns 0 gone, 1 done, 2 the same already, 3 taken, 4 another type, 5 not saved, 6 the new name has another value.
local from, to, how = KEYS[1], KEYS[2], ARGV[2]
local kind = redis.call('TYPE', from).ok
if kind == 'none' then return 0 end
if ARGV[3] ~= '' and kind ~= ARGV[3] then return 4 end
if redis.call('EXISTS', to) == 1 then
  if same(from, to) then
    if how ~= 'rename' then return 2 end
  elseif how == 'rename' then return 3
  elseif how == 'absent' then return 6
  elseif ARGV[1] == '1' and redis.sha1hex(redis.call('DUMP', to) .. redis.call('PEXPIRETIME', to)) ~= ARGV[4] then
    return 5
  end
end
if ARGV[1] == '0' then return 1 end
if KEYS[3] then
  -- The last fence, and behind a space the attempt that got it.
  local function fence(key) return tonumber(string.match(redis.call('GET', key) or '', '^%d+') or 0) end
  if fence(KEYS[3]) > fence(KEYS[4]) then redis.call('COPY', KEYS[3], KEYS[4], 'REPLACE') end
end
if how == 'rename' then
  redis.call('RENAME', from, to)
  if KEYS[3] then redis.call('UNLINK', KEYS[3]) end
else
  redis.call('COPY', from, to, 'REPLACE')
end
return 1
