import { FileMeta, type FolderListingKey, Uuid } from "./xeuz-cloud.js";

function cached(_: FolderListingKey): void {}

cached(new FileMeta({ fileId: Uuid.of("6ba7b810-9dad-41d1-80b4-00c04fd430c8") }).key());
