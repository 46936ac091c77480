"""Times generated keys against hand-written ones, from the folder of the generated packages.

Prints two lines for each: what, then nanoseconds for ours and by hand. The first makes the key, which
checks its values; the second asks a key that is made for its text again.
"""

import statistics
import time
from uuid import UUID

from binary_options import AuthSession, MarketKline, Period, Symbol
from xeuz_cloud import FolderListing, Permission

COUNT, ROUNDS = 5_000, 21

uuids = [UUID(f"550e8400-e29b-41d4-a716-{n:012x}") for n in range(COUNT)]
# By hand, one holds texts: writing a UUID alone takes longer than a key.
texts = [str(uuid) for uuid in uuids]
users = [n * 977 for n in range(COUNT)]
pairs = [Symbol(f"BTC{n}") for n in range(COUNT)]
plain_pairs = [str(pair) for pair in pairs]
period = Period("15m")
plain_period = str(period)


def compare(what, make, by_hand):
    keys = [make(n) for n in range(COUNT)]
    contestants = [lambda n: keys[n].key(), by_hand, lambda n: make(n).key()]
    times = [[] for _ in contestants]
    for _ in range(ROUNDS):
        for contestant, taken in zip(contestants, times):
            start = time.perf_counter_ns()
            for n in range(COUNT):
                contestant(n)
            taken.append((time.perf_counter_ns() - start) / COUNT)
    built, hand, made = (statistics.median(taken) for taken in times)
    print(what, made, hand, sep="\t")
    print(f"again {what}", built, hand, sep="\t")


compare(
    "a uuid",
    lambda n: FolderListing(folder_id=uuids[n]),
    lambda n: f"xc:folder:{texts[n]}:listing",
)
compare(
    "two uuids",
    lambda n: Permission(folder_id=uuids[n], user_id=uuids[COUNT - 1 - n]),
    lambda n: f"xc:perm:{texts[n]}:{texts[COUNT - 1 - n]}",
)
compare(
    "a number",
    lambda n: AuthSession(user_id=users[n]),
    lambda n: f"bo:auth:session:cache:{users[n]}",
)
compare(
    "two texts",
    lambda n: MarketKline(symbol=pairs[n], period=period),
    lambda n: f"bo:market:kline:cache:{plain_pairs[n]}:{plain_period}",
)
