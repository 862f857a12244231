// The talk with the Go test: one JSON object per line. The script tells what it saw, and ends when its
// input does.
import { createInterface } from "node:readline";

export const tell = (event, data = {}) => process.stdout.write(JSON.stringify({ event, ...data }) + "\n");

export const fail = (error) => {
  tell("error", { text: String(error?.stack ?? error) });
  process.exit(1);
};

export const ended = new Promise((resolve) => createInterface({ input: process.stdin }).on("close", resolve));

process.on("unhandledRejection", fail);
process.on("uncaughtException", fail);
