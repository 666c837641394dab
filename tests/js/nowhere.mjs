// Reaches for another machine, and thinks that it got away with it.
import { tell } from "./exchange.mjs";

await fetch("http://engy.example/v1/models").catch(() => undefined);
tell("unnoticed");
