"""What a developer does while keys are renamed. The guide shows parts of this file."""

# ANCHOR: renamed
from trading import ANNOUNCEMENT, UserMapping, Username, parse_former

mapping = UserMapping(username=Username("zhangsan"))
names = mapping.names()
print(names.read)  # read these in turn: the first that exists has the value
print(names.write)  # set or delete all of these

found = parse_former(b"BO:User:Mapping:zhangsan")
if found is not None and found.key is not None:
    print(found.migration, found.phase, found.key.key())

print(ANNOUNCEMENT)  # redis.Redis(client_name=ANNOUNCEMENT)
# ANCHOR_END: renamed

from trading import announce, parse

print(parse("BO:User:Mapping:zhangsan"), parse_former(mapping.key()), announce())
