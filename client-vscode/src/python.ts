/** Which Python runs the server, and what to do when none can. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

export interface Candidate {
  command: string;
  from: 'setting' | 'python extension' | 'own environment' | 'path';
}

/** What an interpreter says of itself; `sidelight` is absent when the package is not there. */
export interface Probe {
  python: string;
  sidelight?: string;
}

export interface Found {
  candidate: Candidate;
  probe: Probe;
}

export interface Tried {
  candidate: Candidate;
  why: string;
}

export type Search = { found: Found } | { tried: Tried[] };

const MINIMUM = [3, 11] as const;

const QUESTION = `
import importlib.util, json, sys
from importlib import metadata
said = {"python": ".".join(map(str, sys.version_info[:3]))}
if importlib.util.find_spec("sidelight") is not None:
    try:
        said["sidelight"] = metadata.version("sidelight")
    except metadata.PackageNotFoundError:
        said["sidelight"] = "source"
print(json.dumps(said))
`;

export function ownEnvironment(storage: string): string {
  const inside = process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];
  return path.join(storage, '.venv', ...inside);
}

/** The interpreters to try, best first. A setting that was made is the only candidate. */
export function candidates(setting: string, extension: string | undefined, storage: string): Candidate[] {
  if (setting) return [{ command: setting, from: 'setting' }];
  const list: Candidate[] = [];
  if (extension) list.push({ command: extension, from: 'python extension' });
  const own = ownEnvironment(storage);
  if (existsSync(own)) list.push({ command: own, from: 'own environment' });
  list.push({ command: process.platform === 'win32' ? 'python' : 'python3', from: 'path' });
  return list;
}

/** Asks an interpreter who it is. Rejects when it cannot be run or does not answer within 20 s. */
export async function probe(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Probe> {
  const args = ['-c', QUESTION];
  const said = await new Promise<string>((resolve, reject) => {
    execFile(command, args, { cwd, env, timeout: 20_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr.trim().split('\n').at(-1) || error.message));
      else resolve(stdout);
    });
  });
  return JSON.parse(said) as Probe;
}

/** Why an interpreter will not do, or undefined when it will. */
export function objection(probe: Probe): string | undefined {
  const [major = 0, minor = 0] = probe.python.split('.').map(Number);
  if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
    return `it is Python ${probe.python}; ${MINIMUM.join('.')} or newer is needed`;
  }
  return probe.sidelight === undefined ? 'it does not have the sidelight package' : undefined;
}

/** The first candidate that can run the server, else what was tried and why it failed. */
export async function search(list: Candidate[], cwd: string, env: NodeJS.ProcessEnv): Promise<Search> {
  const tried: Tried[] = [];
  for (const candidate of list) {
    try {
      const answer = await probe(candidate.command, cwd, env);
      const why = objection(answer);
      if (why === undefined) return { found: { candidate, probe: answer } };
      tried.push({ candidate, why });
    } catch (error) {
      tried.push({ candidate, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return { tried };
}

/** One line a candidate, for the log and the dialog. */
export function explain(tried: Tried[]): string {
  return tried.map(({ candidate, why }) => `${candidate.command} (${candidate.from}): ${why}`).join('\n');
}
