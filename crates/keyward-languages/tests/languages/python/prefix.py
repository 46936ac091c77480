"""A keyspace whose prefix is bound once, and types that the other program does not use."""

# ANCHOR: prefix
from tenants import Cart, CheckedOut, Prefix, Tenant, parse

acme = Prefix(tenant=Tenant("acme"))
cart = Cart(user_id=42)
print(cart.key(acme))  # redis.hgetall(cart.key(acme))
print(Cart.glob(acme))  # all carts of this tenant
print(CheckedOut(user_id=42).keys(acme))

found = parse(b"globex:cart:{7}")
if found is not None:
    print(found.prefix.tenant, found.key)
# ANCHOR_END: prefix

import datetime
import ipaddress
from typing import Callable

from tenants import CartFields, LoginLimit, Note, Period, Report

report = Report(day=datetime.date(2024, 2, 29), period=Period.WEEKLY)
print(report.key(acme), Report.TTL.words[report.period.value])
print(CartFields(items=3, paid=False), CartFields.NAMES)

for client in ["192.0.2.1", "2001:DB8::1", "::", "::ffff:192.0.2.1"]:
    limit = LoginLimit(client=ipaddress.ip_address(client))
    again = LoginLimit.parse(limit.key(acme))
    print(limit.key(acme), again is not None and again.key == limit)

note = Note(about=cart)
print(note.key(acme), note.slot(acme) == cart.slot(acme))
read = Note.parse(note.key(acme))
print(read is not None and read.key.about == cart)
print(Note.glob(acme, about=report))


def accepted(act: Callable[[], object]) -> bool:
    try:
        act()
        return True
    except ValueError:
        return False


class Sly(Tenant):
    """Checked as one text, and another when it is written."""

    def __radd__(self, other: str) -> str:
        return "evil:"


now = datetime.datetime(2026, 11, 15)
print(accepted(lambda: Report(day=now, period=Period.DAILY)))
print(accepted(lambda: Report(day=now.date(), period="daily")))  # type: ignore[arg-type]
print(accepted(lambda: LoginLimit(client=ipaddress.ip_address("fe80::1%eth0"))))
print(accepted(lambda: Prefix(tenant=Sly("acme"))))
print(accepted(lambda: cart.key("evil:")))  # type: ignore[arg-type]
print(accepted(lambda: Note(about="cart:{42}")))  # type: ignore[arg-type]

# The text of a value is not the value: the message says what to write.
mistakes: list[Callable[[], object]] = [
    lambda: Prefix(tenant="acme"),  # type: ignore[arg-type]
    lambda: Report(day="2026-11-15", period=Period.DAILY),  # type: ignore[arg-type]
    lambda: Report(day=now.date(), period="daily"),  # type: ignore[arg-type]
    lambda: LoginLimit(client="2001:db8::1"),  # type: ignore[arg-type]
    lambda: Note(about="cart:{42}"),  # type: ignore[arg-type]
]
for make in mistakes:
    try:
        print(make())
    except ValueError as error:
        print(error)
