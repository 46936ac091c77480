-- Drops sessions from their index. KEYS: index, ends. ARGV: what the index holds of them.
for at = 1, #ARGV do
  if KEYS[1] ~= KEYS[2] then redis.call('SREM', KEYS[1], ARGV[at]) end
  redis.call('ZREM', KEYS[2], ARGV[at])
end
