import binaryoptions.BinaryOptions;
import binaryoptions.BinaryOptionsCaches;
import java.util.List;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;

// ANCHOR: service
/** What a developer writes: methods with annotations, no key in sight. */
public class CachedMarket implements Market {
    @Override
    @Cacheable(cacheNames = BinaryOptionsCaches.USER_PROFILE, key = BinaryOptionsCaches.Keys.USER_PROFILE)
    public String profile(long userId) {
        return "profile of " + userId;
    }

    @Override
    @Cacheable(cacheNames = BinaryOptionsCaches.MARKET_KLINE, key = BinaryOptionsCaches.Keys.MARKET_KLINE)
    public String kline(BinaryOptions.Symbol symbol, String period) {
        return symbol + " by " + period;
    }

    @Override
    @Cacheable(cacheNames = BinaryOptionsCaches.ACTIVE_SYMBOLS, key = BinaryOptionsCaches.Keys.ACTIVE_SYMBOLS)
    public List<String> active() {
        return List.of("BTCUSDT", "ETHUSDT");
    }

    @Override
    @CacheEvict(cacheNames = BinaryOptionsCaches.USER_PROFILE, key = BinaryOptionsCaches.Keys.USER_PROFILE)
    public void profileChanged(long userId) {}

    @Override
    @CacheEvict(cacheNames = BinaryOptionsCaches.ACTIVE_SYMBOLS, allEntries = true)
    public void listingChanged() {}
}
// ANCHOR_END: service
