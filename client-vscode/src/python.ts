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
const NEWER = [14, 13, 12, 11];

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

/** The interpreters that an environment could be made with, best first. */
export function builders(setting: string, extension: string | undefined): Candidate[] {
  const list: Candidate[] = [];
  if (setting) list.push({ command: setting, from: 'setting' });
  if (extension) list.push({ command: extension, from: 'python extension' });
  const names =
    process.platform === 'win32'
      ? ['py', 'python']
      : ['python3', ...NEWER.map((minor) => `python3.${minor}`)];
  return [...list, ...names.map((command): Candidate => ({ command, from: 'path' }))];
}

/** Why an interpreter is too old, or undefined when it is not. */
export function tooOld(probe: Probe): string | undefined {
  const [major = 0, minor = 0] = probe.python.split('.').map(Number);
  const old = major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1]);
  return old ? `it is Python ${probe.python}; ${MINIMUM.join('.')} or newer is needed` : undefined;
}

/**
 * Why an interpreter will not do, or undefined when it will. Our own environment follows the extension: `brought`
 * is the version that it brings along.
 */
export function objection(probe: Probe, { from }: Candidate, brought?: string): string | undefined {
  const old = tooOld(probe);
  if (old !== undefined) return old;
  if (probe.sidelight === undefined) return 'it does not have the sidelight package';
  const behind = from === 'own environment' && brought !== undefined && probe.sidelight !== brought;
  return behind ? `it has sidelight ${probe.sidelight}, this extension brings ${brought}` : undefined;
}

/** The first candidate that can run the server, else what was tried and why it failed. */
export async function search(
  list: Candidate[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  brought?: string,
): Promise<Search> {
  const tried: Tried[] = [];
  for (const candidate of list) {
    try {
      const answer = await probe(candidate.command, cwd, env);
      const why = objection(answer, candidate, brought);
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
