import { FolderListings } from "./xeuz-cloud.js";

new FolderListings({});
