/**
 * The keywords that say where and as whom to connect.
 * Source: Salt 3008.3 `salt/modules/mysql.py` (`_connect`).
 * @module
 */

/** The keywords of a connection: of all functions, and of the states. */
export const CONNECTION_KEYWORDS: readonly string[] = [
  "connection_host",
  "connection_user",
  "connection_pass",
  "connection_port",
  "connection_db",
  "connection_conv",
  "connection_unix_socket",
  "connection_default_file",
  "connection_default_group",
  "connection_charset",
  "client_flags",
];
