-- What SQLite and MariaDB both understand. Each `UNIQUE` is an index too.

CREATE TABLE IF NOT EXISTS users (
    id CHAR(36) NOT NULL PRIMARY KEY,
    name VARCHAR(200) NOT NULL,
    role VARCHAR(10) NOT NULL,
    storage BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS folders (
    id CHAR(36) NOT NULL PRIMARY KEY,
    parent_id CHAR(36),
    owner_id CHAR(36) NOT NULL,
    name VARCHAR(200) NOT NULL,
    UNIQUE (parent_id, name),
    FOREIGN KEY (parent_id) REFERENCES folders (id),
    FOREIGN KEY (owner_id) REFERENCES users (id)
);

CREATE TABLE IF NOT EXISTS files (
    id CHAR(36) NOT NULL PRIMARY KEY,
    folder_id CHAR(36) NOT NULL,
    owner_id CHAR(36) NOT NULL,
    name VARCHAR(200) NOT NULL,
    size BIGINT NOT NULL,
    mime VARCHAR(200) NOT NULL,
    UNIQUE (folder_id, name),
    UNIQUE (owner_id, id),
    FOREIGN KEY (folder_id) REFERENCES folders (id) ON DELETE CASCADE,
    FOREIGN KEY (owner_id) REFERENCES users (id)
);

CREATE TABLE IF NOT EXISTS shares (
    folder_id CHAR(36) NOT NULL,
    user_id CHAR(36) NOT NULL,
    permission VARCHAR(10) NOT NULL,
    PRIMARY KEY (folder_id, user_id),
    FOREIGN KEY (folder_id) REFERENCES folders (id) ON DELETE CASCADE,
    FOREIGN KEY (user_id) REFERENCES users (id)
);
