-- Fills a key if its lease still holds. KEYS: key, lease. ARGV: token, value, TTL in ms (0: none).
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  return 0
end
if ARGV[3] == '0' then
  redis.call('SET', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
redis.call('DEL', KEYS[2])
return 1
