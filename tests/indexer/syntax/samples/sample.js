import { readFile } from "node:fs/promises";
import express from "express";
const path = require("path");

/** How long a session lives. */
const SESSION_SECONDS = 3600;

/**
 * Keeps sessions in memory.
 */
export class SessionStore {
  #sessions = new Map();

  get(id) {
    return this.#sessions.get(id);
  }

  async load(file) {
    const text = await readFile(path.join(".", file));
    return JSON.parse(text);
  }
}

export const createApp = (store) => {
  const app = express();
  app.use(authenticate(store));
  return app;
};

export function authenticate(store) {
  return (request, response, next) => next(store.get(request.id));
}

module.exports.close = function () {
  process.exit(0);
};
