/** @module */
import { stuckSubscriber } from "../chaos/stuck_subscriber.ts";
import { chaosTest } from "./chaos.ts";

chaosTest(stuckSubscriber);
