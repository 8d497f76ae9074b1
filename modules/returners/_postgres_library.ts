/**
 * The client of PostgreSQL, a script of its own in executables: the threads of jobs have all their other code in one
 * file, and only a call of the returner loads this.
 * @module
 */

export { Client, DatabaseError } from "pg";
