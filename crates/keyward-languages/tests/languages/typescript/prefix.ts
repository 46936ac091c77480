// A keyspace whose prefix is bound once, and types that the other program does not use.

// ANCHOR: prefix
import { Cart, CheckedOut, parse, Prefix, Tenant } from "./tenants.js";

const acme = new Prefix({ tenant: Tenant.of("acme") });
const cart = new Cart({ userId: 42n });
console.log(cart.key(acme)); // redis.hgetall(cart.key(acme))
console.log(Cart.glob(acme)); // all carts of this tenant
console.log(new CheckedOut({ userId: 42n }).keys(acme));

const found = parse("globex:cart:{7}");
console.log(found?.prefix.params.tenant, found?.key.definition);
// ANCHOR_END: prefix

import { Day, Ip, LoginLimit, Note, Period, Report } from "./tenants.js";

for (const day of [Day.of("2026-11-15"), Day.from(2024, 2, 29), Day.fromDate(new Date(0))]) {
  const report = new Report({ day, period: "weekly" });
  console.log(report.key(acme), Report.ttl.ms[report.params.period]);
}
console.log(Period.words, Period.is("weekly"), Period.is("yearly"));

for (const client of ["192.0.2.1", "2001:DB8::1", "::", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"]) {
  console.log(new LoginLimit({ client: Ip.of(client) }).key(acme));
}
const broken = ["1.2.3", "01.2.3.4", ":::", "1::2::3", "1.2.3.4::", "::1%eth0", "12345::", "::1.2.3.4.5", "1:2:3:4:5:6:7"];
console.log(broken.filter((client) => accepted(() => Ip.of(client))));
console.log([[2023, 2, 29], [2026, 1.5, 1], [-1, 1, 1]].filter(([y, m, d]) => accepted(() => Day.from(y!, m!, d!))));

const note = new Note({ about: cart });
console.log(note.key(acme), note.slot(acme) === cart.slot(acme));
const again = Note.parse(note.key(acme));
console.log(again?.key.params.about.definition);
console.log(Note.glob(acme, { about: new Report({ day: Day.of("2026-11-15"), period: "daily" }) }));

// Neither a prefix nor a key can be forged by looking like one.
const forged = { text: () => "evil:", params: acme.params } as unknown as Prefix;
console.log(accepted(() => cart.key(forged)));
console.log(accepted(() => new Note({ about: { definition: "cart" } as unknown as Cart })));
console.log(accepted(() => new Note({ about: Object.create(Cart.prototype) })));

// The text of a value is not the value: the message says what to write.
for (const make of [
  () => new Cart({ userId: "42" as unknown as bigint }),
  () => new Cart({ userId: 42 as unknown as bigint }),
  () => new Note({ about: "cart:{42}" as unknown as Cart }),
  () => new Prefix({ tenant: 42 as unknown as Tenant }),
]) {
  try {
    console.log(make().toString());
  } catch (error) {
    console.log((error as Error).message);
  }
}

function accepted(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
