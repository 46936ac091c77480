package org.springframework.data.redis.cache;

import java.time.Duration;

/**
 * Stands in for Spring Data Redis: immutable; without more, entries never expire, and a cache's name and
 * {@code ::} stand before their keys.
 */
public final class RedisCacheConfiguration {
    private final Duration ttl;
    private final CacheKeyPrefix prefix;

    private RedisCacheConfiguration(Duration ttl, CacheKeyPrefix prefix) {
        this.ttl = ttl;
        this.prefix = prefix;
    }

    public static RedisCacheConfiguration defaultCacheConfig() {
        return new RedisCacheConfiguration(Duration.ZERO, name -> name + "::");
    }

    public RedisCacheConfiguration entryTtl(Duration ttl) {
        return new RedisCacheConfiguration(ttl, prefix);
    }

    public RedisCacheConfiguration computePrefixWith(CacheKeyPrefix prefix) {
        return new RedisCacheConfiguration(ttl, prefix);
    }

    public String getKeyPrefixFor(String cacheName) {
        return prefix.compute(cacheName);
    }

    public Duration getTtl() {
        return ttl;
    }
}
