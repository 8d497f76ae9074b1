/** Which environments a repository has: lists, one branch for all, and what stands in for those that are not there; as in Salt's file server. */

import { testWorlds } from "../support/file_server_worlds.ts";

testWorlds("gitfs: choices");
