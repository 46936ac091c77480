-- Notes how far a job is. ARGV: ticket, take, the text, spec and TTL of the status. Answers 0 if the lease was lost.
local ticket, take, text, spec, ttl = unpack(ARGV)
local record = read(ticket)
local held = record and record.takes == tonumber(take) and (record.state == 'l' or record.state == 'c')
if not held then return { 0, false } end
redis.call('HSET', jobs, 'o:' .. ticket, text)
-- What was cancelled has failed already, although its worker does not know it yet.
local word = record.state == 'c' and 'failed' or 'processing'
local failed = spec ~= '' and project(KEYS[8], spec, ttl, word, record, { progress = text })
return { 1, failed }
