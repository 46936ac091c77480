-- Refuses whoever lost the lock of the document: somebody with a higher fence has written since.
-- KEYS: 1 the document's fence. ARGV: 1 the fence of this holder, 2 how long it is remembered, in ms.
-- A fence is the time when the lock was given, in microseconds. One that is older than what is remembered is refused as well:
-- whoever came after it may be forgotten by now.
local seen, fence = tonumber(redis.call('GET', KEYS[1]) or 0), tonumber(ARGV[1])
if fence < seen then return redis.error_reply('FENCED the lock was lost') end
if fence > seen then
  if redis.call('TIME')[1] * 1000 - fence / 1000 > tonumber(ARGV[2]) then
    return redis.error_reply('FENCED the lock was given too long ago')
  end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
