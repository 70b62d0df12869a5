/** Runs the real server for the tests. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Server {
  address: string;
  /** Stops it; gives its exit status. */
  stop: () => Promise<number | null>;
}

/** Starts a server with an empty store. */
export async function startServer(repository: string): Promise<Server> {
  const command = process.env["TOKENCOUNTD"] ?? join(repository, ".venv/bin/tokencountd");
  const [program, ...options] = command.split(" ");
  const directory = await mkdtemp(join(tmpdir(), "tokencount-"));
  options.push("serve", "--listen", "127.0.0.1:0", "--data-dir", directory);
  const child = spawn(program!, options, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    address: line.split(" ").at(-1)!,
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(directory, { recursive: true });
      return child.exitCode;
    },
  };
}
