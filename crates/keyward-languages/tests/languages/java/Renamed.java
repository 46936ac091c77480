import trading.Trading;
import trading.Trading.FormerKey;
import trading.Trading.KeyNames;
import trading.Trading.UserMapping;
import trading.Trading.Username;

/** What a developer does while keys are renamed. The guide shows a part of this file. */
public final class Renamed {
    public static void main(String[] args) {
        // ANCHOR: renamed
        UserMapping mapping = new UserMapping(Username.of("zhangsan"));
        KeyNames names = mapping.names();
        print(names.read()); // read these in turn: the first that exists has the value
        print(names.write()); // set or delete all of these

        FormerKey found = Trading.parseFormer("BO:User:Mapping:zhangsan").orElseThrow();
        print(found.migration() + " " + found.phase() + " " + found.key().orElseThrow().key());

        print(Trading.ANNOUNCEMENT); // RedisURI.builder().withClientName(Trading.ANNOUNCEMENT)
        // ANCHOR_END: renamed
        print(Trading.parse("BO:User:Mapping:zhangsan") + " " + Trading.parseFormer(mapping.key()) + " " + Trading.announce());
    }

    private static void print(Object what) {
        System.out.println(what);
    }
}
