/** @module */
import { power } from "../chaos/power.ts";
import { chaosTest } from "./chaos.ts";

chaosTest(power);
