import binaryoptions.BinaryOptions;
import java.util.List;

/** What the application knows of its service: Spring puts its interceptor before it. */
public interface Market {
    String profile(long userId);

    String kline(BinaryOptions.Symbol symbol, String period);

    List<String> active();

    void profileChanged(long userId);

    void listingChanged();
}
