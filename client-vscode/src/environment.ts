/** Sidelight's own Python environment: made in the extension's storage from the wheel that comes along. */

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { ownEnvironment } from './python';

/** What the extension brings: the server as a wheel, and the exact versions and hashes of what it needs. */
export interface Wheel {
  file: string;
  requirements: string;
  version: string;
}

export type Step = 'environment' | 'libraries' | 'server';
export type Problem = 'noVenv' | 'noNetwork' | 'noSpace' | 'other';

export interface Making {
  python: string;
  storage: string;
  wheel: Wheel;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  onStep: (step: Step) => void;
  onOutput: (text: string) => void;
}

/** A step failed; `said` is the end of what the program printed. */
export class NotMade extends Error {
  constructor(
    readonly problem: Problem,
    readonly said: string,
  ) {
    super(said);
  }
}

const PIP = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--retries', '5'];
const LONGEST_MS = 15 * 60_000;
const MOST_OUTPUT = 16 * 1024 * 1024;
const SHOWN_LINES = 6;
const SIGNS: [RegExp, Problem][] = [
  [/ensurepip|No module named .?venv/i, 'noVenv'],
  [/No space left|disk is full|ENOSPC/i, 'noSpace'],
  [/Connection|ProxyError|SSLError|timed out|resolve|No matching distribution/i, 'noNetwork'],
];

/** The wheel in the extension's folder; undefined where it was packed without one. */
export function wheelIn(extension: string): Wheel | undefined {
  const folder = path.join(extension, 'wheel');
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  for (const name of names) {
    const version = /^sidelight-([^-]+)-.*\.whl$/.exec(name)?.[1];
    if (version === undefined) continue;
    return {
      file: path.join(folder, name),
      requirements: path.join(folder, 'requirements.lock'),
      version,
    };
  }
  return undefined;
}

/**
 * Makes the environment anew; an old one goes. Rejects with NotMade, or with the signal's reason, and then leaves
 * none behind. The server is installed last: where it is, everything is.
 */
export async function make(making: Making): Promise<void> {
  const place = path.join(making.storage, '.venv');
  const own = ownEnvironment(making.storage);
  const { file, requirements } = making.wheel;
  const steps: [Step, string, string[]][] = [
    ['environment', making.python, ['-I', '-m', 'venv', '--clear', place]],
    ['libraries', own, ['-I', ...PIP, '--require-hashes', '-r', requirements]],
    ['server', own, ['-I', ...PIP, '--no-deps', '--no-index', file]],
  ];
  try {
    for (const [step, command, args] of steps) {
      making.onStep(step);
      await run(command, args, making);
    }
  } catch (error) {
    await rm(place, { recursive: true, force: true, maxRetries: 3 });
    throw error;
  }
}

/** Which of the known troubles it is, by what venv or pip printed. */
export function diagnose(said: string): Problem {
  return SIGNS.find(([sign]) => sign.test(said))?.[1] ?? 'other';
}

function run(command: string, args: string[], { storage, env, signal, onOutput }: Making): Promise<void> {
  const options = { cwd: storage, env, signal, timeout: LONGEST_MS, maxBuffer: MOST_OUTPUT };
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (!error) resolve();
      else if (signal.aborted) reject(new DOMException('cancelled', 'AbortError'));
      else {
        const said = `${stdout}\n${stderr}`.trim() || error.message;
        reject(new NotMade(diagnose(said), said.split('\n').slice(-SHOWN_LINES).join('\n')));
      }
    });
    child.stdout?.on('data', onOutput);
    child.stderr?.on('data', onOutput);
  });
}
