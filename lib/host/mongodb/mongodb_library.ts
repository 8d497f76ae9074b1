/**
 * The client of MongoDB, a script of its own in executables: the threads of jobs have all their other code in one file,
 * and only a call that connects loads this.
 * @module
 */

export { BSON, MongoClient, MongoServerError } from "mongodb";
