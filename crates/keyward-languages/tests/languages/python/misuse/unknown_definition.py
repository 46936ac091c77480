from xeuz_cloud import FolderListings

FolderListings()
