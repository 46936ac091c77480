-- The keys of the Media Gateway, as its schema declares them, and a few as it does not.
local function uuid(number) return string.format('%08x-7425-40de-944b-e07fc1f90ae7', number) end
local function title(number) return 'tt' .. string.format('%07d', number) end
local when = '2026-11-01T10:00:00Z'
local seed = 7
local function random(most)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed % most + 1
end
for number = 1, 600 do
  local session = 'session:active:' .. uuid(number)
  redis.call('HSET', session, 'user_id', uuid(number % 200), 'device_id', uuid(number), 'created_at', when,
    'last_active', when, 'ip_address', '10.0.0.7', 'user_agent', string.rep('Mozilla/5.0 ', random(8)))
  redis.call('EXPIRE', session, random(600000))
  if number % 40 == 0 then redis.call('PERSIST', session) end
end
for number = 1, 400 do
  local key = 'content:meta:' .. title(number)
  redis.call('HSET', key, 'title', string.rep('A film ', random(30)), 'content_type', 'movie',
    'release_date', '2024-05-01', 'popularity_score', '7.5', 'genres', '["drama"]', 'platforms', '["netflix"]')
  redis.call('EXPIRE', key, random(86000))
end
for number = 1, 300 do
  local user = uuid(number)
  redis.call('HSET', 'user:profile:' .. user, 'email', 'a@example.org', 'display_name', 'A', 'is_premium', 'true',
    'subscription_tier', 'basic')
  redis.call('EXPIRE', 'user:profile:' .. user, random(3600))
  for item = 1, random(20) do
    redis.call('ZADD', 'user:watchlist:' .. user, 1700000000 + item, title(random(400)))
  end
  redis.call('EXPIRE', 'user:watchlist:' .. user, random(300))
  redis.call('SET', 'session:blacklist:' .. uuid(5000 + number), when, 'EX', random(2500000))
end
for number = 1, 500 do
  local key = 'user:progress:' .. uuid(random(300)) .. ':' .. title(number)
  redis.call('HSET', key, 'position_seconds', 10, 'duration_seconds', 5400, 'completion_rate', '0.1',
    'last_watched', when, 'device_id', uuid(number))
  redis.call('EXPIRE', key, number % 50 == 0 and 90000 or random(1800))
end
for _, region in ipairs({ 'de', 'us', 'fr', 'jp' }) do
  for number = 1, 50 do redis.call('ZADD', 'cache:popular:' .. region .. ':movie', number, title(number)) end
  redis.call('EXPIRE', 'cache:popular:' .. region .. ':movie', 1500)
end
for number = 1, 80 do redis.call('SET', 'usr:watchlst:' .. uuid(number), 'x', 'EX', 500) end
for number = 1, 15 do redis.call('SET', 'tmp-export-' .. number, string.rep('x', 2000)) end
redis.call('SET', 'sync:platform:netflix:last', when)
return 'OK'
