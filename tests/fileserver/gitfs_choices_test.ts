/** Which environments a repository has: lists, one branch for all, and what stands in for those that are not there; as in Salt's file server. */

import { testWorlds } from "../support/files/file_server_situations.ts";

testWorlds("gitfs: choices");
