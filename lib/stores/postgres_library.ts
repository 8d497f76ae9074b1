/**
 * The client of PostgreSQL, a script of its own in executables: most threads and commands never need it.
 * @module
 */

export { Client, DatabaseError } from "pg";
