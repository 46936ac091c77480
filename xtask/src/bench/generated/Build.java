import binaryoptions.BinaryOptions;
import binaryoptions.BinaryOptions.MarketKline;
import binaryoptions.BinaryOptions.Period;
import binaryoptions.BinaryOptions.Symbol;
import binaryoptions.BinaryOptions.UserProfile;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.IntFunction;
import xeuzcloud.XeuzCloud.FolderListing;

/** Building keys against concatenation by hand; prints name, our nanoseconds and theirs. */
public final class Build {
    private static final int COUNT = 2_000;
    private static final int ROUNDS = 1_000;
    private static long sink;

    public static void main(String[] args) {
        UUID[] ids = fill(new UUID[COUNT], n -> new UUID(0x550e8400e29b41d4L + n, 0xa716446655440000L + n * 977L));
        String[] symbols = fill(new String[COUNT], n -> "SYM" + n + "USDT");
        String period = args.length > 0 ? args[0] : "15m";

        FolderListing[] listings = fill(new FolderListing[COUNT], n -> new FolderListing(ids[n]));
        UserProfile[] profiles = fill(new UserProfile[COUNT], n -> new UserProfile(n * 977L));
        MarketKline[] klines = fill(new MarketKline[COUNT], n -> new MarketKline(Symbol.of(symbols[n]), Period.of(period)));

        compare("a uuid", n -> listings[n].key(), n -> "xc:folder:" + ids[n] + ":listing");
        compare("a number", n -> profiles[n].key(), n -> "bo:user:profile:cache:" + n * 977L);
        compare("two texts", n -> klines[n].key(), n -> "bo:market:kline:cache:" + symbols[n] + ":" + period);
        compare("checking two texts", n -> new MarketKline(Symbol.of(symbols[n]), Period.of(period)).key(), n -> "bo:market:kline:cache:" + symbols[n] + ":" + period);
    }

    private static void compare(String name, IntFunction<String> keyward, IntFunction<String> hand) {
        double ours = Double.MAX_VALUE;
        double theirs = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            ours = Math.min(ours, time(keyward));
            theirs = Math.min(theirs, time(hand));
        }
        System.out.println(name + "\t" + ours + "\t" + theirs);
        if (sink == 42) {
            System.out.println();
        }
    }

    private static double time(IntFunction<String> build) {
        long start = System.nanoTime();
        for (int n = 0; n < COUNT; n++) {
            sink += build.apply(n).hashCode();
        }
        return (System.nanoTime() - start) / (double) COUNT;
    }

    private static <T> T[] fill(T[] array, IntFunction<T> make) {
        Arrays.setAll(array, make);
        return array;
    }
}
