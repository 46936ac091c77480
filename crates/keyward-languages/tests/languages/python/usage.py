"""What a developer does with generated keys. The guide shows parts of this file."""

# ANCHOR: build
from uuid import UUID

from xeuz_cloud import FileMeta, FileMoved, FolderListing, Permission, parse

folder_id = UUID("550e8400-e29b-41d4-a716-446655440000")

listing = FolderListing(folder_id=folder_id)
print(listing.key())  # redis.get(listing.key())
print(FolderListing.TTL.max)  # redis.set(..., px=FolderListing.TTL.max)
print(listing.slot())
# ANCHOR_END: build

# ANCHOR: parse
key = parse(b"xc:perm:550e8400-e29b-41d4-a716-446655440000:7c9e6679-7425-40de-944b-e07fc1f90ae7")
match key:
    case Permission(user_id=user_id):
        print("a permission of user", user_id)
    case None:
        print("nobody's key")
    case other:
        print("another key:", other.PATTERN)
# ANCHOR_END: parse

# ANCHOR: glob
print(Permission.glob(folder_id=folder_id))  # everyone's permission in one folder
print(FolderListing.EVERYTHING)
# ANCHOR_END: glob

# ANCHOR: events
moved = FileMoved(
    file_id=UUID("6ba7b810-9dad-41d1-80b4-00c04fd430c8"),
    from_id=folder_id,
    to_id=UUID("7c9e6679-7425-40de-944b-e07fc1f90ae7"),
)
for invalidated in moved.keys():  # redis.unlink(*moved.keys())
    print(invalidated)
# ANCHOR_END: events

# ANCHOR: values
from binary_options import (
    Api,
    AuthMapping,
    Identifier,
    KeywardError,
    RiskLimit,
    UserBalance,
    Username,
)

username = Username("zhang.san@example.com")  # checked: a name with a colon would raise
print(AuthMapping(username=username).key())
print(UserBalance.glob(user_id=2**64 - 1))

# Any text may be an `encoded` value; the key holds it with %XX.
print(RiskLimit(api=Api("/api/order?id=1"), identifier=Identifier("10086")).key())

try:
    Username("zhang:san")
except KeywardError as error:
    print(error)
# ANCHOR_END: values

# What mypy refuses is refused at run time too, where a caller does not look at types.
for hostile in ["x:y", "*", 42, None, "\ud800", folder_id.bytes]:
    try:
        print(FileMeta(file_id=hostile).key())  # type: ignore[arg-type]
    except ValueError as error:  # every keyspace has its own KeywardError, all are ValueErrors
        print(error)
for number in [True, -1, 2**64, 1.0, "7", 10**5000]:
    try:
        print(UserBalance.glob(user_id=number))  # type: ignore[arg-type]
    except KeywardError as error:
        print(str(error)[:60])

from typing import Callable

# The text of a value is not the value: the message says what to write.
mistakes: list[Callable[[], object]] = [
    lambda: AuthMapping(username="zhang.san"),  # type: ignore[arg-type]
    lambda: RiskLimit(api=b"/api", identifier=Identifier("10086")),  # type: ignore[arg-type]
    lambda: FileMeta(file_id=str(folder_id)),  # type: ignore[arg-type]
    lambda: UserBalance.glob(user_id="7"),  # type: ignore[arg-type]
    lambda: AuthMapping(username="zhang:san"),  # type: ignore[arg-type]
]
for make in mistakes:
    try:
        print(make())
    except ValueError as error:
        print(error)
