import { AuthMapping, AuthSession, Username } from "./binary-options.js";

new AuthMapping({ username: "zhangsan" });
new AuthSession({ userId: 10086 });
new AuthSession({ userId: Username.of("zhangsan") });
