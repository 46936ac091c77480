import java.util.List;
import java.util.UUID;
import xeuzcloud.XeuzCloud;
import xeuzcloud.XeuzCloud.FileDeleted;
import xeuzcloud.XeuzCloud.FileMeta;
import xeuzcloud.XeuzCloud.FolderListing;
import xeuzcloud.XeuzCloud.Key;
import xeuzcloud.XeuzCloud.Permission;

public final class Usage {
    public static void main(String[] args) {
        // ANCHOR: usage
        UUID folder = UUID.fromString("550e8400-e29b-41d4-a716-446655440000");
        UUID user = UUID.fromString("7c9e6679-7425-40de-944b-e07fc1f90ae7");

        // A record for each definition. Its values are typed, so that building the key cannot fail.
        FolderListing listing = new FolderListing(folder);
        print(listing.key());
        print("lives " + FolderListing.TTL_MIN + " to " + FolderListing.TTL_MAX + ", slot " + listing.slot());

        // Any key of the keyspace, back into its record.
        Key read = XeuzCloud.parse("xc:perm:" + folder + ":" + user).orElseThrow();
        if (read instanceof Permission permission) {
            print("the permission of " + permission.userId());
        }
        print("nobody's: " + XeuzCloud.parse("xc:perm:" + folder).isEmpty());

        // Globs, with some values or none.
        print(Permission.glob().folderId(folder).glob());
        print(FileMeta.GLOB);

        // What an event makes stale.
        FileDeleted deleted = new FileDeleted(user, folder);
        List<String> stale = deleted.keys().stream().map(Key::key).toList();
        print("delete " + stale + ", scan " + deleted.globs());
        // ANCHOR_END: usage

        XeuzCloud.Lifecycles.CACHE.forEach(Usage::print);
        print(XeuzCloud.build("quota_used", java.util.Map.of("user_id", user.toString())).key());
        refused(() -> XeuzCloud.build("quota_used", java.util.Map.of("user_id", "x:y")));
        refused(() -> XeuzCloud.build("quota_used", java.util.Map.of("user", "x")));
        refused(() -> XeuzCloud.build("quota", java.util.Map.of()));
        values();
    }

    /** The second schema: numbers and texts of its own. */
    private static void values() {
        print(new binaryoptions.BinaryOptions.UserProfile(10086).key());
        var largest = binaryoptions.BinaryOptions.Uint.of("18446744073709551615");
        print(new binaryoptions.BinaryOptions.UserProfile(largest).key());
        var api = binaryoptions.BinaryOptions.Api.of("/api/order");
        var who = binaryoptions.BinaryOptions.Identifier.of("10086");
        print(new binaryoptions.BinaryOptions.RiskLimit(api, who).key());
        refused(() -> new binaryoptions.BinaryOptions.UserProfile(-1));
        refused(() -> binaryoptions.BinaryOptions.Symbol.of("BTC:USDT"));
        refused(() -> binaryoptions.BinaryOptions.Symbol.of("BTC\ud800"));
        refused(() -> binaryoptions.BinaryOptions.Api.of("\udfff"));
    }

    private static void print(Object line) {
        System.out.println(line);
    }

    private static void refused(Runnable attempt) {
        try {
            attempt.run();
            print("accepted!");
        } catch (IllegalArgumentException refused) {
            print("refused: " + refused.getMessage());
        }
    }
}
