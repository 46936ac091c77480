package org.springframework.data.redis.cache;

/** Stands in for Spring Data Redis: what stands before an entry's key, by the cache's name. */
@FunctionalInterface
public interface CacheKeyPrefix {
    String compute(String cacheName);
}
