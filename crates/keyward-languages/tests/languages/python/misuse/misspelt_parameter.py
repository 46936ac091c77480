from uuid import UUID

from xeuz_cloud import FolderListing

FolderListing(folderid=UUID("550e8400-e29b-41d4-a716-446655440000"))
