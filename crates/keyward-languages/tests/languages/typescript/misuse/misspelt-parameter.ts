import { FolderListing, Uuid } from "./xeuz-cloud.js";

new FolderListing({ folderID: Uuid.of("550e8400-e29b-41d4-a716-446655440000") });
