-- Takes a lease for a fill, unless somebody has filled the key meanwhile. KEYS: key, lease. ARGV: token, lease in
-- ms, and whether what stands under the key is no good (1). Returns the value, or whether the lease was taken.
if ARGV[3] ~= '1' then
  local value = redis.call('GET', KEYS[1])
  if value then
    return value
  end
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 1
end
return 0
